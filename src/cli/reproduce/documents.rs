//! `reproduce --documents`: the blocks of `README.md` and `docs/*.md` that state what was measured. Each lies between
//! `<!-- record: KIND ARGUMENTS -->` and `<!-- end -->`, and is made from the newest records in the folder `results`.

mod records;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::campaign::env::Env;
use crate::cli::verb::CommandStatus;
use records::Records;
use spmv_matrix::cache;
use spmv_results::files::output::failed;

const BEGIN: &str = "\n<!-- record: ";
const END: &str = "<!-- end -->\n";

/// Writes the blocks of the documents in a folder, or with `check` only names those that would change.
pub fn write(root: &Path, check: bool, env: &mut Env) -> Result<CommandStatus> {
    let records = Records::read(root)?;
    let mut status = CommandStatus::Ok;
    for name in names(root)? {
        let path = root.join(&name);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let links = if name.contains('/') { "](../results/" } else { "](results/" };
        let block = |words: &str| Ok(records.block(words)?.replace("](results/", links));
        let (written, changed) = with_blocks(&text, block).with_context(|| name.clone())?;
        if !check && written != text {
            let written = cache::replace(&path, |file| file.write_all(written.as_bytes()));
            written.map_err(failed(&path))?;
        }
        for (line, words) in changed.into_iter().filter(|_| check) {
            writeln!(env.stdout, "{name}:{line}: {words}: differs from the newest records")?;
            status = CommandStatus::Bad;
        }
    }
    Ok(status)
}

fn names(root: &Path) -> Result<BTreeSet<String>> {
    let docs = root.join("docs");
    let entries = docs.read_dir().with_context(|| docs.display().to_string())?;
    let entries = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let pages = entries.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    Ok(pages.chain(["README.md".into()]).collect())
}

/// Returns the text with all blocks made anew, and the lines and words of those that differ.
fn with_blocks(text: &str, block: impl Fn(&str) -> Result<String>) -> Result<(String, Vec<(usize, String)>)> {
    let (mut written, mut changed, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let line = 2 + text[..text.len() - rest.len() + before.len()].matches('\n').count();
        let (words, after) = after.split_once('\n').unwrap_or((after, ""));
        let words = words.strip_suffix(" -->").unwrap_or(words);
        let (old, after) = after.split_once(END).unwrap_or((BEGIN, ""));
        ensure!(!old.contains(BEGIN), "line {line}: {words}: the block has no line {}", END.trim());
        let new = block(words).with_context(|| format!("line {line}: {words}"))?;
        if new != old {
            changed.push((line, words.to_owned()));
        }
        written += &format!("{before}{BEGIN}{words} -->\n{new}{END}");
        rest = after;
    }
    Ok((written + rest, changed))
}
