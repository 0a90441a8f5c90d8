//! Entries of `[[measure]]`, `[[view]]` and `[[claim]]` that stand for several entries. With `each`, a list of tables,
//! an entry stands for one entry per table: its own keys with those of the table. With `table`, lines of cells between
//! `|`, it stands for one entry per line below the first one; the words `{column}` in its values are replaced by the
//! cells.

use std::collections::HashMap;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use toml::{Spanned, Table, Value};

const KINDS: [&str; 3] = ["measure", "view", "claim"];
/// The maximum number of entries that an entry stands for.
const MAX_ENTRIES: usize = 10_000;
/// The keys of claims with a number, which a cell can also give.
const NUMBERS: [&str; 2] = ["least", "products"];

#[derive(Deserialize)]
struct Entries {
    #[serde(default)]
    measure: Vec<Spanned<Table>>,
    #[serde(default)]
    view: Vec<Spanned<Table>>,
    #[serde(default)]
    claim: Vec<Spanned<Table>>,
}

/// Returns the definition with all entries written out, or `None` if no entry stands for several, or if the text has
/// errors that the parser of definitions finds. `check` says whether an entry of a kind is valid. An error names the
/// line of the entry.
pub fn written_out(text: &str, check: impl Fn(&str, Value) -> Result<()>) -> Result<Option<Table>> {
    let (Ok(mut definition), Ok(entries)) = (text.parse::<Table>(), toml::from_str(text)) else {
        return Ok(None);
    };
    let Entries { measure, view, claim } = entries;
    let lists = [measure, view, claim];
    let mut keys = lists.iter().flatten().flat_map(|entry| entry.get_ref().keys());
    if !keys.any(|key| ["each", "table"].contains(&key.as_str())) {
        return Ok(None);
    }
    drop(keys);
    for (kind, entries) in KINDS.into_iter().zip(lists) {
        let mut written = Vec::new();
        for entry in entries {
            let line = 1 + text[..entry.span().start].matches('\n').count();
            let several = entries_of(entry.into_inner()).and_then(|several| {
                several.iter().try_for_each(|entry| check(kind, entry.clone()))?;
                Ok(several)
            });
            written.extend(several.with_context(|| format!("{line}: [[{kind}]]"))?);
        }
        if let Some(entries) = definition.get_mut(kind) {
            *entries = written.into();
        }
    }
    Ok(Some(definition))
}

fn entries_of(mut common: Table) -> Result<Vec<Value>> {
    let wrong = |error: toml::de::Error| anyhow!("{}", error.message());
    let each = common.remove("each").map_or_else(|| Ok(vec![Table::new()]), Value::try_into);
    let table = common.remove("table").map(Value::try_into::<String>).transpose().map_err(wrong)?;
    let with_common = |own: Table| Value::Table(common.clone().into_iter().chain(own).collect());
    let entries: Vec<_> = each.map_err(wrong)?.into_iter().map(with_common).collect();
    let Some(table) = table else { return Ok(entries) };
    let mut lines = table.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let mut all = Vec::new();
    for cells in lines {
        ensure!(
            cells.len() == names.len(),
            "the row '{}' of the table needs {} cells",
            cells.join(" | "),
            names.len()
        );
        let row = names.iter().copied().zip(cells).collect();
        for entry in &entries {
            all.push(filled(entry, &row)?);
            ensure!(all.len() <= MAX_ENTRIES, "it stands for more than {MAX_ENTRIES} entries");
        }
    }
    Ok(all)
}

/// Replaces columns by cells.
fn filled(value: &Value, row: &HashMap<&str, &str>) -> Result<Value> {
    Ok(match value {
        Value::String(text) => filled_text(text, row)?.into(),
        Value::Array(values) => filled_list(values, row)?.into(),
        Value::Table(keys) => filled_keys(keys, row)?.into(),
        other => other.clone(),
    })
}

/// In a list, a cell with commas stands for several elements.
fn filled_list(values: &[Value], row: &HashMap<&str, &str>) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for value in values {
        match value {
            Value::String(text) if text.contains('{') => {
                let words = filled_text(text, row)?;
                all.extend(words.split(',').map(|word| Value::from(word.trim())));
            }
            other => all.push(filled(other, row)?),
        }
    }
    Ok(all)
}

/// Keys with empty values go.
fn filled_keys(keys: &Table, row: &HashMap<&str, &str>) -> Result<Table> {
    let mut all = Table::new();
    for (key, value) in keys {
        let value = filled(value, row)?;
        let number = value.as_str().and_then(|text| text.parse::<i64>().ok());
        match number.filter(|_| NUMBERS.contains(&key.as_str())) {
            Some(number) => all.insert(key.clone(), number.into()),
            None if value.as_str() == Some("") => None,
            None => all.insert(key.clone(), value),
        };
    }
    Ok(all)
}

fn filled_text(text: &str, row: &HashMap<&str, &str>) -> Result<String> {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some((head, name, tail)) = first_list(rest) {
        let cell = row.get(name);
        let cell = cell.with_context(|| format!("'{text}': the table has no column '{name}'"))?;
        filled = filled + head + cell;
        rest = tail;
    }
    Ok(filled + rest)
}

/// Splits a word into the text before its first list, the list, and the text after it.
pub fn first_list(word: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = word.split_once('{')?;
    let (list, tail) = rest.split_once('}')?;
    Some((head, list, tail))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn entries_with_rows_and_parts_are_written_out() {
        let check = |_: &str, entry: Value| {
            ensure!(entry.get("wrong").is_none(), "it is wrong");
            Ok(())
        };
        let written = |text: &str| written_out(text, check).map_err(|error| format!("{error:#}"));
        let short = "view = [{ x = 1 }]\n\
                     [[claim]]\ntable = '''\nname | cells | holds\na b | c, d | > 1\ne | f |\n'''\nleast = '3'\n\
                     [[claim.each]]\ntext = '{name}: {cells}'\n\
                     [[claim.each]]\ntext = 't'\nholds = '{holds}'\nmeasured.of = ['x', '{cells}']\n";
        let long = "view = [{ x = 1 }]\n\
                    [[claim]]\nleast = 3\ntext = 'a b: c, d'\n\
                    [[claim]]\nleast = 3\ntext = 't'\nholds = '> 1'\nmeasured.of = ['x', 'c', 'd']\n\
                    [[claim]]\nleast = 3\ntext = 'e: f'\n\
                    [[claim]]\nleast = 3\ntext = 't'\nmeasured.of = ['x', 'f']\n";
        assert_eq!(written(short).unwrap(), Some(long.parse().unwrap()));
        assert_eq!(written(long), Ok(None));
        let errors = [
            "\n[[view]]\ntable = \"a|b\\nc\"\n",
            "view = [{ table = \"a|b\\nd|e\", title = '{c}' }]",
            "x = 1\n[[claim]]\n[[claim]]\nwrong = 1\neach = [{}]\n",
            "view = [{ each = 1 }]",
        ];
        expect![[r#"
            2: [[view]]: the row 'c' of the table needs 2 cells
            1: [[view]]: '{c}': the table has no column 'c'
            3: [[claim]]: it is wrong
            1: [[view]]: invalid type: integer `1`, expected a sequence
        "#]]
        .assert_eq(&errors.map(|text| written(text).unwrap_err() + "\n").concat());
    }
}
