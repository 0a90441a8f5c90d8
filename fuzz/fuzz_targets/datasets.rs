//! A file of datasets: refused with its name, or all of its sets, filters and surrogates can be used.

#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use spmv_bench::collection::{Datasets, Matrices, is_id};
use spmv_matrix::generate::Generator;

fuzz_target!(|text: &str| -> Corpus {
    let datasets = match Datasets::default().and(text, "a.toml") {
        Ok(datasets) => datasets,
        Err(error) => {
            assert!(error.to_string().starts_with("a.toml:"));
            return Corpus::Keep;
        }
    };
    for (id, matrix) in &datasets.matrices {
        assert!(is_id(id) && *id == matrix.id);
        assert!(matrix.nnz <= matrix.entries && matrix.stored_at_most() <= matrix.entries);
        let _ = (matrix.group(), matrix.name(), matrix.archive_bytes_estimate());
        if let Some(spec) = matrix.surrogate.as_deref().and_then(|spec| spec.strip_prefix("gen:")) {
            let _ = Generator::parse(spec).map(|generator| generator.most_entries());
        }
    }
    for set in datasets.sets.values() {
        let matrices = datasets.matrices_of(set);
        match &set.matrices {
            Matrices::Members(members) => assert_eq!(matrices.len(), members.len()),
            Matrices::Filter(filter) => assert!(matrices.iter().all(|m| filter.passes(m))),
        }
    }
    Corpus::Keep
});
