//! What files may have, and what scipy's fast and its Python reader make of it beside this one.

/// For each file the expected comparison, in the signs of `Read::compared`, and its text, mostly without the first two
/// words.
pub const VARIANTS: &[&str] = &[
    "== coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2\n",
    "== coordinate real general\n2 3 2\n1 2 1.5\n2 3 -2",
    "== coordinate real general\r\n%c\r\n1 1 1\r\n1 1 7\r\n",
    "== %%MatrixMarket MATRIX Coordinate REAL General  \n1 1 1\n1 1 7\n",
    "== %%MatrixMarket  matrix\tcoordinate real general\n%c\n% d\n\n \n1 1 1\n1 1 7\n",
    "== coordinate real general\n\t2  2 2 \n\n  1\t 2  1 \t\n \t\n2 1\t2 \r\n\n",
    "== coordinate real general\n1 1 1\n0001 01 007 % seven\n",
    "== coordinate real general\n0 0 0\n",
    "== coordinate real general\n2 3 0\n",
    // Zeros keep their sign, and what is below the least number becomes one.
    "== coordinate real general\n1 5 5\n1 1 -0\n1 2 0\n1 3 -1e-999\n1 4 1e-999\n1 5 -0.0e5\n",
    // The least number, half of it and a little more, and both sides of the least normal one.
    "== coordinate real general\n1 5 5\n1 1 4.9e-324\n1 2 2.4703282292062327208e-324\n\
     1 3 2.4703282292062327209e-324\n1 4 2.2250738585072011e-308\n1 5 2.2250738585072014e-308\n",
    "== coordinate real general\n1 4 4\n1 1 1.7976931348623157e308\n1 2 1.7976931348623158e308\n1 3 .5\n1 4 -5.\n",
    // Duplicates, in the order of the file: (1e16 + 1) - 1e16 is 0, in another order it would be 1.
    "== coordinate real general\n1 2 4\n1 1 1e16\n1 1 1\n1 2 3\n1 1 -1e16\n",
    "== coordinate pattern general\n2 2 3\n2 1\n1 1\n2 1\n",
    "== coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n2 3 3\n",
    "== coordinate real symmetric\n2 2 2\n1 2 1e16\n2 1 1\n",
    // An entry and its image are summed in another order: here (1e16 + 1) - 1e16, there (1e16 - 1e16) + 1.
    "!! coordinate real symmetric\n2 2 3\n2 1 1e16\n1 2 1\n2 1 -1e16\n",
    "== coordinate real skew-symmetric\n2 2 2\n2 1 0\n2 2 0\n",
    "++ coordinate real skew-symmetric\n2 2 1\n2 2 5\n",
    "-- coordinate unsigned-integer skew-symmetric\n2 2 1\n2 1 5\n",
    "== coordinate integer hermitian\n2 2 1\n2 1 -9223372036854775808\n",
    "== coordinate unsigned-integer general\n1 1 1\n1 1 18446744073709551615\n",
    // There, integers have 64 bits; here they are numbers like all others.
    "-- coordinate integer general\n1 1 1\n1 1 9223372036854775808\n",
    // An integer has no sign of zero to change.
    "!! coordinate integer skew-symmetric\n2 2 1\n2 1 0\n",
    // In 64 bits the least integer has no opposite, and is its own image.
    "!! coordinate integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n",
    "=- coordinate integer general\n1 1 1\n1 1 3.0\n",
    "!- coordinate integer general\n1 1 1\n1 1 3.5\n",
    "== array real general\n2 3\n1\n2\n\n 0 \n4\r\n5\n6",
    "== array integer symmetric\n2 2\n1\n2\n3\n",
    "== array real skew-symmetric\n3 3\n1\n2\n3\n",
    "!= array real general\n1 1\n-0\n",
    "0+ array pattern general\n1 1\n1\n",
    // What only some allow.
    "-- \u{feff}%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n",
    "-- %%matrixmarket matrix coordinate real general\n1 1 1\n1 1 7\n",
    "=- coordinate real general % x\n1 1 1\n1 1 7\n",
    "=- coordinate real general\n\n%c\n1 1 1\n1 1 7\n",
    "-- coordinate real general\n1 1 1 % size\n1 1 7\n",
    "-= coordinate real general\n1 1 1\n%c\n1 1 7\n%d\n",
    "-- coordinate real general\n1 1 1\n  %c\n1 1 7\n",
    "-= array real general\n2 1\n1\n%c\n2\n",
    "-= coordinate real general\n1 1 1\n1 1 +1.5\n",
    // There, whatever follows a number is passed over, Fortran's exponents too.
    "!- coordinate real general\n1 1 1\n1 1 1.0D+03\n",
    "+0 coordinate real general\n1 1 1\n1 1 1e\n",
    "+0 coordinate real general\n1 1 1\n1 1 0x10\n",
    "++ coordinate real general\n1 1 1\n1 1 1_0\n",
    "++ coordinate real general\n1 1 1\n1 1 1 0.5\n",
    "++ coordinate pattern general\n1 1 1\n1 1 1\n",
    "+0 coordinate real general more\n1 1 1\n1 1 1\n",
    // What is refused here: values that are not finite, complex ones, negative images of patterns.
    "++ coordinate real general\n1 1 1\n1 1 nan\n",
    "++ coordinate real general\n1 1 1\n1 1 -inf\n",
    "++ coordinate real general\n1 1 1\n1 1 1e999\n",
    "++ coordinate complex general\n1 1 1\n1 1 1 2\n",
    "++ coordinate pattern skew-symmetric\n2 2 1\n2 1\n",
    "++ coordinate real symmetric\n2 3 1\n1 2 1\n",
    // What nobody reads.
    "00 %%MatrixMarket vector coordinate real general\n3 1\n1 2\n",
    "00 coordinate real general\n1 1 2\n1 1 1\n",
    "00 coordinate real general\n1 1 1\n1 1 1\n1 1 2\n",
    "00 coordinate real general\n1 1 1\n2 1 1\n",
    "00 coordinate real general\n1 1 1\n0 1 1\n",
    "00 coordinate real general\n1 1 1\n1 1 --1\n",
    "00 coordinate real general\n1 1 1\n1.0 1 1\n",
];
