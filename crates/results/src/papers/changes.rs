//! Since when the times of a method are those of its present code: `changes.toml`. A claim about it is not
//! judged by rows that were measured before.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::files::read::RecordedRow;
use spmv_matrix::method_name::MethodName;

#[derive(Deserialize)]
struct Change {
    /// The time of the change, as in the name of a run: the year, month, day, `T`, hour, minute and second, in UTC.
    since: String,
    /// What has changed.
    what: String,
}

/// The changes by the names of methods, with parameters where only those are concerned.
type Changes = BTreeMap<String, Change>;

/// The other part of the file is that of a test.
#[derive(Deserialize)]
struct File {
    changed: Changes,
}

static CHANGES: LazyLock<Changes> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("changes.toml")).expect("a file of this program");
    file.changed
});

/// Returns why these rows of an operand are not of the method as it is now, if one of them was measured before a change.
/// An operand of several methods stands for the best of them, whatever becomes of another.
pub fn objection(lines: &[&RecordedRow]) -> Option<String> {
    let first = &lines.first()?.row.method_name;
    let is_one = lines.iter().all(|line| line.row.method_name == *first);
    lines.iter().filter(|_| is_one).find_map(|line| objection_in(&CHANGES, line))
}

fn objection_in(changes: &Changes, line: &RecordedRow) -> Option<String> {
    let method = line.row.method_name.as_deref()?;
    let change = changes.get(method).or_else(|| changes.get(MethodName::parse(method).method))?;
    // The name of a run begins with the time.
    let is_older = line.row.run_id.as_str() < change.since.as_str();
    is_older.then(|| format!("measured before {method} was changed: {}", change.what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::read::Added;
    use crate::row::Row;

    #[test]
    fn rows_before_a_change_are_not_of_the_method() {
        let change = |what: &str| Change { since: "20261128T031202".into(), what: what.into() };
        let changes = [("a".to_owned(), change("one")), ("b:x=1".to_owned(), change("other"))];
        let changes = Changes::from(changes);
        for (method, run, expected) in [
            ("a", "20261128T031201999Z-1", Some("measured before a was changed: one")),
            ("a:y=2", "20251128T041202000Z-1", Some("measured before a:y=2 was changed: one")),
            ("a", "20261128T031202000Z-1", None),
            ("b:x=1", "20261127T000000000Z-1", Some("measured before b:x=1 was changed: other")),
            ("b", "20261127T000000000Z-1", None),
        ] {
            let row = Row { method_name: Some(method.into()), run_id: run.into(), ..Row::default() };
            let line = RecordedRow { row, added: Added::default(), name: None };
            assert_eq!(objection_in(&changes, &line).as_deref(), expected, "{method} {run}");
        }
    }
}
