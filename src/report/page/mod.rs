//! A page of views as data, and its three output forms: one self-contained HTML file, Markdown with its charts as
//! separate files, and text for the terminal.

mod html;
mod markdown;
mod names;
mod text;

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::View;
use crate::record::table::Table;
use spmv_matrix::cache;

/// Text and views under headings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The title of the page.
    pub title: String,
    /// The paragraphs below the title. Words between backticks are code, as in all other texts.
    pub lead: Vec<String>,
    /// The sections, in reading order.
    pub sections: Vec<Section>,
}

/// A section of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading of the section.
    pub title: String,
    /// The paragraphs below the heading.
    pub lead: Vec<String>,
    /// The views. Each has a heading of its own, unless its title is empty.
    pub views: Vec<View>,
}

impl Section {
    /// Returns a section with only a table.
    pub fn of(title: &str, table: Table) -> Self {
        let views = vec![View { table: Some(table), ..View::default() }];
        Self { title: title.into(), lead: Vec::new(), views }
    }

    /// Returns the name of a view of this section: its title, or the title of the section if it has none.
    fn label<'a>(&'a self, view: &'a View) -> &'a str {
        if view.title.is_empty() { &self.title } else { &view.title }
    }
}

/// The maximum number of rows that a page shows of a table. A page with more would be slow to display.
const MOST_ROWS: usize = 2000;

/// The maximum size of a chart in the HTML page, in bytes. The page refers to the file of a larger chart instead.
const MOST_BYTES: usize = 2 << 20;

/// Returns the part of a table that a page shows, and a note if that is not the whole table.
fn beginning(table: &Table) -> (Cow<'_, Table>, Option<String>) {
    let all = table.rows.len();
    if all <= MOST_ROWS {
        return (Cow::Borrowed(table), None);
    }
    let note = format!(
        "Only the first {MOST_ROWS} of {all} rows are shown; the result files contain all."
    );
    let rows = table.rows[..MOST_ROWS].to_vec();
    (Cow::Owned(Table { columns: table.columns.clone(), rows }), Some(note))
}

/// A mark in every file that is written here. Existing files without it are not overwritten.
const MARK: &str = "<!-- written by spmv-bench, which may overwrite it -->";

/// Why a page cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// A file of that name exists and was not written by this program.
    #[error(
        "{0} exists and was not written by spmv-bench; choose another folder, or move the file away"
    )]
    Foreign(PathBuf),
    /// The folder or a file in it cannot be written.
    #[error("cannot write {path}: {error}")]
    Unwritable {
        /// The path that cannot be written.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl Page {
    /// Writes `report.html`, `report.md` and the charts of the latter, and removes the charts of an earlier page
    /// in the folder. Returns the paths of the written files.
    ///
    /// # Errors
    /// Returns an error if another program wrote a file of such a name, or if the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, PageError> {
        let charts = self.charts().map(|(name, svg)| (name, format!("{svg}{MARK}\n")));
        let pages =
            [("report.html".into(), self.to_html()), ("report.md".into(), self.to_markdown())];
        let files = pages.into_iter().chain(charts);
        let files: Vec<_> = files.map(|(name, text)| (folder.join(name), text)).collect();
        let foreign = |path: &Path| path.symlink_metadata().is_ok() && !is_ours(path);
        if let Some((path, _)) = files.iter().find(|(path, _)| foreign(path)) {
            return Err(PageError::Foreign(path.clone()));
        }
        let unwritable = |path: &Path, error| PageError::Unwritable { path: path.into(), error };
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))?;
        remove_charts(folder).map_err(|error| unwritable(folder, error))?;
        for (path, text) in &files {
            let written = cache::replace(path, |file| file.write_all(text.as_bytes()));
            written.map_err(|error| unwritable(path, error))?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    /// Returns every chart as SVG, with the name of its file.
    fn charts(&self) -> impl Iterator<Item = (String, String)> {
        let views = self
            .sections
            .iter()
            .flat_map(|section| section.views.iter().map(move |view| (section.label(view), view)));
        let names = names::of(self).into_iter().flat_map(|section| section.views);
        views.zip(names).filter_map(|((title, view), name)| {
            Some((format!("{name}.svg"), view.chart.as_ref()?.to_file(title, &view.foot)))
        })
    }
}

/// Whether a path is a regular file with the mark of this program. Links and pipes are not.
fn is_ours(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file())
        && fs::read_to_string(path).is_ok_and(|text| text.contains(MARK))
}

/// Removes the charts that this program wrote into a folder.
fn remove_charts(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "svg") && is_ours(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::chart::{Axis, Bars, Chart, Heat};
    use super::*;
    use crate::record::table::Cell;

    fn page(titles: &[&str]) -> Page {
        let value = Axis::linear("ms");
        let bars = Bars { value, ..Bars::default() };
        let view = |title: &&str| View {
            title: (*title).into(),
            chart: Some(Chart::Bars(bars.clone())),
            foot: "2 matrices; C, 2026-03-02".into(),
            ..View::default()
        };
        let views = titles.iter().map(view).collect();
        let section = Section { title: "S".into(), views, ..Section::default() };
        Page { title: "P".into(), sections: vec![section], ..Page::default() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_page_takes_the_place_of_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new/folder");
        let written = page(&["A", "B"]).write(&folder).unwrap();
        assert_eq!(written[0], folder.join("report.html"));
        assert_eq!(names(&folder), ["report.html", "report.md", "s-a.svg", "s-b.svg"]);
        fs::write(folder.join("mine.svg"), "<svg/>").unwrap();
        page(&["C"]).write(&folder).unwrap();
        assert_eq!(names(&folder), ["mine.svg", "report.html", "report.md", "s-c.svg"]);
    }

    /// In the page, title and foot are not part of the chart, because the page shows them itself.
    #[test]
    fn the_file_of_a_chart_contains_its_title_and_origin() {
        let dir = tempfile::tempdir().unwrap();
        let page = page(&["A", ""]);
        page.write(dir.path()).unwrap();
        let chart = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        for (name, title) in [("s-a.svg", "A"), ("s-2.svg", "S")] {
            let words = |word: &str| chart(name).lines().filter(|line| *line == word).count();
            assert_eq!(
                (words(title), words("2 matrices; C, 2026-03-02")),
                (1, 1),
                "{}",
                chart(name)
            );
        }
        assert!(!page.to_html().contains("2026-03-02"));
    }

    /// Builds a page of 100,000 rows and as many cells in a chart.
    #[test]
    fn a_page_of_many_rows_stays_small() {
        let text = |row: usize| format!("matrix-{row}");
        let rows = (0..100_000).map(|row| vec![Cell::text(text(row)), Cell::Count(row as u64)]);
        let table = Table { columns: vec!["matrix".into(), "nnz".into()], rows: rows.collect() };
        let value = Axis::linear("ms");
        let names: Vec<_> = (0..100_000).map(text).collect();
        let cells = vec![vec![Some(1.0)]; names.len()];
        let heat =
            Heat { value, range: (0.0, 1.0), rows: names, columns: vec!["merge".into()], cells };
        let chart = Some(Chart::Heat(heat));
        let view = View { title: "V".into(), chart, table: Some(table), ..View::default() };
        let section = Section { title: "S".into(), lead: vec![], views: vec![view] };
        let page = Page { sections: vec![section], ..Page::default() };
        let (html, markdown) = (page.to_html(), page.to_markdown());
        for (text, lines) in
            [(&html, html.matches("<tr>").count()), (&markdown, markdown.lines().count())]
        {
            assert!(text.len() < 500_000 && lines < 2100, "{} bytes, {lines} lines", text.len());
            assert!(text.contains(
                "Only the first 2000 of 100000 rows are shown; the result files contain all"
            ));
        }
        assert!(
            html.contains("The chart is too large for this page; it is in <code>s-v.svg</code>")
        );
    }

    #[test]
    fn files_of_other_programs_are_not_overwritten() {
        for name in ["report.html", "report.md", "s-a.svg"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(name);
            fs::write(&path, "mine").unwrap();
            let error = page(&["A"]).write(dir.path()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("{} exists and was not", path.display())),
                "{error}"
            );
            assert_eq!(fs::read(&path).unwrap(), b"mine");
            assert_eq!(names(dir.path()), [name]);
        }
    }

    /// The target of a link may be the file of another program, or may not exist yet.
    #[test]
    fn nothing_is_written_through_a_link() {
        for there in [None, Some("mine"), Some(MARK)] {
            let dir = tempfile::tempdir().unwrap();
            let folder = dir.path().join("folder");
            fs::create_dir(&folder).unwrap();
            let (link, victim) = (folder.join("report.html"), dir.path().join("victim"));
            if let Some(text) = there {
                fs::write(&victim, text).unwrap();
            }
            std::os::unix::fs::symlink(&victim, &link).unwrap();
            let error = page(&["A"]).write(&folder).unwrap_err();
            assert!(matches!(error, PageError::Foreign(path) if path == link));
            assert_eq!(fs::read_to_string(&victim).ok().as_deref(), there);
        }
    }

    #[test]
    fn a_file_in_place_of_the_folder_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = page(&[]).write(file.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}: ", file.path().display())), "{error}");
    }
}
