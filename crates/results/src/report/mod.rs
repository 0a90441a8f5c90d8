//! Reads recorded rows and shows them: tables and charts are first built as data, then written as text, Markdown,
//! SVG and HTML. No code here runs a method.

pub mod advice;
pub mod chart;
pub mod compare;
mod groups;
pub mod identity;
pub mod matched;
pub mod means;
pub mod names;
pub mod numeric;
pub mod overview;
pub mod page;
pub mod published;
pub mod ranking;
pub mod select;
pub mod standings;
mod view;
pub mod views;

pub use view::View;

/// Returns a file of cases anew: each line `== CASE` with what `show` returns of the case, and the comments before it.
#[cfg(test)]
fn cases(file: &str, show: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for line in file.lines() {
        if let Some(case) = line.strip_prefix("== ") {
            text += &format!("{line}\n{}", show(case));
        } else if line == "#" || line.starts_with("# ") {
            text += &format!("{line}\n");
        }
    }
    text
}

#[cfg(test)]
pub(crate) fn row(file: &str, method: &str, ms: f64) -> crate::row::Row {
    crate::row::Row {
        file: file.into(),
        method_name: Some(method.into()),
        avg_spmv_ms: Some(ms),
        precision: Some(spmv_matrix::scalar::Precision::F64),
        device: Some(spmv_matrix::device::Device::Cpu),
        threads: Some(2),
        status: Some(crate::row::Status::Ok),
        ..Default::default()
    }
}
