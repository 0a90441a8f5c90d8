//! Times that others have published, joined to the rows of the same matrix, device and method.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use serde::Deserialize;

use crate::files::read::RecordedRow;

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

impl Published {
    /// Parses a CSV file with the columns of `Time`. Further columns, such as the source of a time, are ignored.
    pub fn parse(text: &str) -> Result<Self> {
        let mut times = HashMap::new();
        for (line, time) in (2..).zip(csv::Reader::from_reader(text.as_bytes()).deserialize()) {
            let Time { matrix, device, method, published_ms, waiting_ms } = time?;
            ensure!(
                published_ms > waiting_ms && waiting_ms >= 0.0,
                "line {line}: waiting_ms is {waiting_ms}; it must be 0 or more, and less than published_ms \
                 ({published_ms})"
            );
            let earlier = times.insert([matrix, device, method], [published_ms, waiting_ms]);
            let twice = "a second time for the same matrix, device and method";
            ensure!(earlier.is_none(), "line {line}: {twice}");
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
    use crate::report::numeric::Column;
    use crate::row::Row;
    use spmv_matrix::device::Device;

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
        for (column, expected) in [("published_ms", 0.25), ("waited_ms", 0.15 + 0.05)] {
            let column = Column::of(column);
            assert_eq!([0, 1].map(|line| column.of_line(&lines[line])), [Some(expected), None]);
        }
    }

    #[test]
    fn files_that_are_wrong_are_refused() {
        let error = |rows: &str| Published::parse(&format!("{HEAD}{rows}")).unwrap_err().to_string();
        assert!(error("a,model:v100,gpu-coo,fast,0,coo\n").contains("line: 2"));
        assert!(error("a,model:v100,gpu-coo,0.1,0.2,coo\n").contains("waiting_ms is 0.2;"));
        let twice = "a,model:v100,gpu-coo,2,1,coo\n".repeat(2);
        assert!(error(&twice).contains("line 3: a second time"));
    }
}
