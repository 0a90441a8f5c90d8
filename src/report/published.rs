//! Times that others have published, joined to the rows of the same matrix, device and method.

use std::collections::HashMap;

use serde::Deserialize;

use crate::record::read::RecordedRow;

/// The time of each matrix, device and method, and the part of it that is launching and waiting, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published(HashMap<[String; 3], [f64; 2]>);

#[derive(Deserialize)]
struct Time {
    matrix: String,
    device: String,
    method: String,
    published_ms: f64,
    waiting_ms: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(
        "line {line}: waiting_ms is {waiting_ms}; it must be 0 or more, and less than published_ms ({published_ms})"
    )]
    Waiting { line: usize, waiting_ms: f64, published_ms: f64 },
    #[error("line {line}: a second time for the same matrix, device and method")]
    Twice { line: usize },
}

impl Published {
    /// Parses a CSV file with the columns of `Time`. Further columns, such as the source of a time, are ignored.
    pub fn parse(text: &str) -> Result<Self, PublishedError> {
        let mut times = HashMap::new();
        for (line, time) in (2..).zip(csv::Reader::from_reader(text.as_bytes()).deserialize()) {
            let Time { matrix, device, method, published_ms, waiting_ms } = time?;
            if !(published_ms > waiting_ms && waiting_ms >= 0.0) {
                return Err(PublishedError::Waiting { line, waiting_ms, published_ms });
            }
            if times.insert([matrix, device, method], [published_ms, waiting_ms]).is_some() {
                return Err(PublishedError::Twice { line });
            }
        }
        Ok(Self(times))
    }

    pub fn join(&self, mut lines: Vec<RecordedRow>) -> Vec<RecordedRow> {
        for line in &mut lines {
            let key = [line.matrix(), line.device(), line.method()].map(str::to_owned);
            if let Some(&[published_ms, waiting_ms]) = self.0.get(&key) {
                line.added.published_ms = Some(published_ms);
                line.added.waiting_ms = Some(waiting_ms);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::row::Row;
    use crate::report::column::Column;
    use spmv_methods::method::Device;

    const HEAD: &str = "matrix,device,method,published_ms,waiting_ms,kernel\n";

    #[test]
    fn times_are_joined_to_their_rows() {
        let text = format!("{HEAD}a,model:v100,gpu-coo,0.25,0.05,coo\n");
        let published = Published::parse(&text).unwrap();
        let row = |file: &str, device: &str| {
            let device = Some(Device::model(device));
            RecordedRow::from(Row { device, ..crate::report::row(file, "gpu-coo", 0.15) })
        };
        let lines = published.join(vec![row("in/a.mtx.gz", "v100"), row("a.mtx", "a100")]);
        let number = |line: usize, column: &str| Column::of(column).of_line(&lines[line]);
        assert_eq!(number(0, "published_ms"), Some(0.25));
        assert_eq!(number(0, "waited_ms"), Some(0.15 + 0.05));
        assert!((number(0, "published_ratio").unwrap() - 0.8).abs() < 1e-12);
        assert!((number(0, "published_error").unwrap() - 20.0).abs() < 1e-9);
        assert_eq!(number(1, "published_ms"), None);
        assert_eq!(number(1, "published_ratio"), None);
    }

    #[test]
    fn files_that_are_wrong_are_refused() {
        let error =
            |rows: &str| Published::parse(&format!("{HEAD}{rows}")).unwrap_err().to_string();
        assert!(error("a,model:v100,gpu-coo,fast,0,coo\n").contains("line: 2"));
        assert!(error("a,model:v100,gpu-coo,0.1,0.2,coo\n").contains("waiting_ms is 0.2;"));
        let twice = "a,model:v100,gpu-coo,2,1,coo\n".repeat(2);
        assert!(error(&twice).contains("line 3: a second time"));
    }
}
