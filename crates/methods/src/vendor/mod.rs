//! Vendors' libraries, opened at run time. Without one, its methods have `skipped` rows that explain how to get it.

pub mod cusparse;
pub mod cusparse_bsr;
pub mod cusparse_sell;
pub mod mkl;
pub mod mkl_csrmv;
pub mod mkl_ie;
