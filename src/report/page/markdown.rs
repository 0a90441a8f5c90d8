//! A page as GitHub-flavoured Markdown.

use super::{MARK, Page, beginning};
use crate::record::table::escape_markdown;
use crate::report::View;

impl Page {
    /// Formats the page as Markdown. Its charts are separate files in the same folder.
    pub fn to_markdown(&self) -> String {
        let mut blocks = vec![MARK.into(), format!("# {}", prose(&self.title))];
        blocks.extend(self.lead.iter().map(|text| prose(text)));
        for (section, names) in self.sections.iter().zip(self.names()) {
            blocks.push(format!("## {}", prose(&section.title)));
            blocks.extend(section.lead.iter().map(|text| prose(text)));
            for (view, name) in section.views.iter().zip(names.views) {
                blocks.extend(of_view(view, &name));
            }
        }
        blocks.join("\n\n") + "\n"
    }
}

fn of_view(view: &View, name: &str) -> impl Iterator<Item = String> {
    let title = prose(&view.title);
    let heading = (!title.is_empty()).then(|| format!("### {title}"));
    let notes = view.notes.iter().map(|note| prose(note));
    let chart = view.chart.as_ref().map(|_| format!("![{title}]({name}.svg)"));
    let (table, rest) = view.table.as_ref().map(beginning).unzip();
    let table = table.map(|table| table.to_markdown());
    heading.into_iter().chain(notes).chain(chart).chain(table).chain(rest.flatten())
}

/// Returns a line in which everything is escaped except code between backticks.
fn prose(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = text.split('`').enumerate();
    let marked = parts.map(|(index, part)| match index % 2 {
        0 => escape_markdown(part),
        _ => format!("`{part}`"),
    });
    marked.collect()
}
