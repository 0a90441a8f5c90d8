//! Faults in the bins of CSR with logarithmic radix binning, and in the rows that several thread blocks divide.

use crate::kernels::{
    Fault,
    Found::{By, Somehow},
};

pub const FAULTS: &[Fault] = &[
    ("gpu-csr-lrb", "pieces[blockIdx.x]", "pieces[blockIdx.x + 1]", By("reads 16 bytes at offset")),
    ("gpu-csr-lrb", "piece.first + threadIdx.x / WIDTH", "piece.first + threadIdx.x", Somehow),
    ("gpu-csr-lrb", "piece.first + threadIdx.x / WIDTH", "threadIdx.x / WIDTH", Somehow),
    ("gpu-csr-lrb", "owns ? order[place] : 0", "order[place]", By("of a buffer of 2060 bytes")),
    (
        "gpu-csr-lrb",
        "owns = place < piece.end",
        "owns = place <= piece.end",
        By("reads 4 bytes at"),
    ),
    ("gpu-csr-lrb", "owns = place < piece.end", "owns = place + 1 < piece.end", Somehow),
    ("gpu-csr-lrb", "owns ? order[place]", "owns ? place", Somehow),
    ("gpu-csr-lrb", "lane == 0 && owns", "lane == 0", Somehow),
    ("gpu-csr-lrb", "lane == 0 && owns", "owns", Somehow),
    ("gpu-csr-lrb", "vector_sum<WIDTH>(ALL", "vector_sum<WIDTH / 2>(ALL", Somehow),
    ("gpu-csr-lrb", "case 4: return short_rows<4>", "case 4: return short_rows<8>", Somehow),
    ("gpu-csr-lrb", "case 16: return short_rows<16>", "case 16: return short_rows<32>", Somehow),
    ("gpu-csr-lrb", "part = piece.part", "part = 0", Somehow),
    ("gpu-csr-lrb", "order[piece.first]", "piece.first", Somehow),
    ("gpu-csr-lrb", "length * (part + 1) >> shift", "length * part + 1 >> shift", Somehow),
    ("gpu-csr-lrb", "if (blocks > 1)", "if (blocks > 16)", Somehow),
    (
        "gpu-csr-lrb",
        "store_divided(row, blockIdx.x - part",
        "store_divided(row, blockIdx.x",
        Somehow,
    ),
    ("gpu-csr-lrb", "arrivals[first] = 0;", "", Somehow),
    ("gpu-csr-lrb", "atomicAdd(&arrivals[first], 1)", "arrivals[first]++", Somehow),
    ("gpu-csr-lrb:block=512", "BLOCK / WARP ? warp_sums", "BLOCK / WARP - 1 ? warp_sums", Somehow),
];
