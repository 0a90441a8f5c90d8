//! A page of views as data, and its three output forms: one self-contained HTML file, Markdown with its charts as
//! separate files, and text for the terminal.

mod html;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tempfile::NamedTempFile;

use super::view::View;
use crate::files::output::failed;
use crate::report::names::join;
use crate::table::terminal::{shown, wrapped};
use crate::table::{Document, Table, escape_markdown};
use spmv_matrix::cache::{self, PUBLIC};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    pub title: String,
    /// The paragraphs below the title. Words between backticks are code, as in all other texts.
    pub lead: Vec<String>,
    pub sections: Vec<Section>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    pub title: String,
    pub lead: Vec<String>,
    /// The views. Each has a heading of its own, unless its title is empty.
    pub views: Vec<View>,
}

impl Section {
    pub fn of(title: &str, table: impl Into<Option<Table>>) -> Self {
        let views = vec![View::of(vec![], None, table)];
        Self { title: title.into(), lead: vec![], views }
    }

    fn label<'a>(&'a self, view: &'a View) -> &'a str {
        if view.title.is_empty() { &self.title } else { &view.title }
    }
}

/// Returns the explanation of the kinds of matrices that the means in sections distinguish, for a page to show once.
pub fn note_on_kinds(sections: &[Section]) -> Option<String> {
    sections.iter().flat_map(|section| &section.views).find_map(|view| view.kinds.note())
}

/// The maximum number of rows that a page shows of a table. A page with more would be slow to display.
const MOST_ROWS: usize = 1000;

/// The maximum size of a chart in the HTML page, in bytes. The page refers to the file of a larger chart instead.
const MOST_BYTES: usize = 500 << 10;

/// Returns the part of a table that a page shows, and a note if that is not the whole table.
fn beginning(table: &Table) -> (Table, Option<String>) {
    let all = table.rows.len();
    let rows = table.rows.iter().take(MOST_ROWS).cloned().collect();
    let note = (all > MOST_ROWS)
        .then(|| format!("Only the first {MOST_ROWS} of {all} rows are shown; the result files contain all."));
    (Table { columns: table.columns.clone(), rows }, note)
}

/// A mark in every file that is written here. Existing files without it are not overwritten.
const MARK: &str = "<!-- written by spmv-bench, which may overwrite it -->";

impl Page {
    /// Writes `report.html`, `report.md` and its charts in place of those of an earlier page. Returns their paths.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let mut files =
            vec![(folder.join("report.html"), self.to_html()), (folder.join("report.md"), self.to_markdown())];
        for (section, (_, names)) in self.sections.iter().zip(self.names()) {
            for (view, name) in section.views.iter().zip(names) {
                let svg = view.chart.as_ref().map(|c| c.to_file(section.label(view), &view.foot));
                let path = folder.join(format!("{name}.svg"));
                files.extend(svg.map(|svg| (path, format!("{svg}{MARK}\n"))));
            }
        }
        let foreign = |path: &Path| path.symlink_metadata().is_ok() && !is_ours(path);
        if let Some((path, _)) = files.iter().find(|(path, _)| foreign(path)) {
            let advice = "choose another folder, or move the file away";
            bail!("{} exists and was not written by spmv-bench; {advice}", path.display());
        }
        cache::in_folder(folder, || replace_all(&files, folder)).map_err(failed(folder))?;
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    pub fn to_markdown(&self) -> String {
        let mut blocks = vec![MARK.into(), format!("# {}", prose(&self.title))];
        blocks.extend(self.lead.iter().map(|text| prose(text)));
        for (section, (_, names)) in self.sections.iter().zip(self.names()) {
            blocks.push(format!("## {}", prose(&section.title)));
            blocks.extend(section.lead.iter().map(|text| prose(text)));
            for (view, name) in section.views.iter().zip(names) {
                blocks.extend(markdown_of(view, &name));
            }
        }
        shown(&(blocks.join("\n\n") + "\n")).into_owned()
    }

    pub fn to_text(&self, width: Option<u16>) -> String {
        let plain = |text: &String| wrapped(&text.replace('`', ""), width);
        let mut blocks = vec![self.title.clone()];
        blocks.extend(self.lead.iter().map(plain));
        for Section { title, lead, views } in &self.sections {
            blocks.push(format!("{title}\n{}", "=".repeat(title.chars().count())));
            blocks.extend(lead.iter().map(plain));
            blocks.extend(views.iter().map(|view| {
                let table = view.table.iter().map(|table| table.to_text(width));
                let notes = view.notes.iter().map(plain);
                join([view.title.clone()].into_iter().chain(notes).chain(table), "\n")
            }));
        }
        blocks.join("\n\n") + "\n"
    }

    /// Returns the tables in LaTeX, each below comments with its title and its notes.
    pub fn to_latex(&self) -> String {
        let comments = |lines: &[String], title: &str| {
            let lines = [title].into_iter().chain(lines.iter().map(|line| &line[..]));
            lines.map(|line| Document::Latex.prose(line)).collect::<Vec<_>>().join("\n")
        };
        let mut blocks = vec![comments(&self.lead, &self.title)];
        for Section { title, lead, views } in &self.sections {
            blocks.push(comments(lead, title));
            let tables = views.iter().filter_map(|view| Some((view, view.table.as_ref()?)));
            blocks.extend(
                tables.map(|(view, table)| format!("{}\n{}", comments(&view.notes, &view.title), table.to_latex())),
            );
        }
        blocks.join("\n\n") + "\n"
    }

    /// Returns the unique names of each section and its views in HTML anchors and file names.
    fn names(&self) -> Vec<(String, Vec<String>)> {
        let mut taken = BTreeSet::new();
        let names = self.sections.iter().map(|Section { title, views, .. }| {
            let section = unique(title, &mut taken);
            let views = views.iter().map(|view| format!("{title} {}", view.title));
            (section, views.map(|view| unique(&view, &mut taken)).collect())
        });
        names.collect()
    }
}

fn markdown_of(view: &View, name: &str) -> impl Iterator<Item = String> {
    let title = prose(&view.title);
    let heading = (!title.is_empty()).then(|| format!("### {title}"));
    let notes = view.notes.iter().map(|note| prose(note));
    let chart = view.chart.as_ref().map(|_| format!("![{title}]({name}.svg)"));
    let (table, rest) = view.table.as_ref().map(beginning).unzip();
    let table = table.map(|table| table.to_markdown());
    heading.into_iter().chain(notes).chain(chart).chain(table).chain(rest.flatten())
}

/// Returns a line in which everything is escaped except code between backticks. What could be more than code, if
/// others wrote the backticks, is escaped too.
fn prose(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = text.split('`').enumerate();
    let marked = parts.map(|(index, part)| match index % 2 {
        0 => escape_markdown(part),
        _ if part.is_empty() || part.contains(['<', '&', '[']) => escape_markdown(&format!("`{part}`")),
        _ => format!("`{part}`"),
    });
    marked.collect()
}

fn unique(title: &str, taken: &mut BTreeSet<String>) -> String {
    let name = slug(title);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| taken.insert(name.clone())).expect("numbers do not end")
}

/// Returns the ASCII letters and digits of a title, lower case, joined by hyphens, at most 80 characters.
fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    name.truncate(80);
    let name = name.trim_end_matches('-');
    if name.is_empty() { "part".into() } else { name.into() }
}

/// Whether a path is a regular file with the mark of this program. Links and pipes are not.
fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
        && fs::read_to_string(path).is_ok_and(|text| text.contains(MARK))
}

/// Writes all files, and then puts them in the place of earlier ones.
fn replace_all(files: &[(PathBuf, String)], folder: &Path) -> io::Result<()> {
    let named = |path: &Path, error| io::Error::other(failed(path)(error));
    let ready = files.iter().map(|(path, text)| {
        let ready = cache::ready(path, PUBLIC, |file| file.write_all(text.as_bytes()));
        ready.map(NamedTempFile::into_temp_path).map_err(|error| named(path, error))
    });
    let ready = ready.collect::<io::Result<Vec<_>>>()?;
    remove_charts(folder)?;
    for (ready, (path, _)) in ready.into_iter().zip(files) {
        ready.persist(path).map_err(|error| named(path, error.error))?;
    }
    Ok(())
}

fn remove_charts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "svg") && is_ours(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
