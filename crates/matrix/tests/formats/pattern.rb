a test                                                                 |pattern 
             2             1             1             0
pra                        7             4             8             0
(40I2)          (40I2)                             
 1 3 5 7 9
 3 6 3 4 3 4 5 6
