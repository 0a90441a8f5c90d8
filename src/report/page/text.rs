//! A page as text for the terminal: titles, notes and tables without charts.

use super::Page;
use crate::report::View;

impl Page {
    /// Formats the texts and tables of the page. Tables are at most `width` characters wide if that is given.
    pub fn to_text(&self, width: Option<u16>) -> String {
        let mut blocks = vec![self.title.clone()];
        blocks.extend(self.lead.iter().map(|text| plain(text)));
        for section in &self.sections {
            blocks.push(format!(
                "{}\n{}",
                section.title,
                "=".repeat(section.title.chars().count())
            ));
            blocks.extend(section.lead.iter().map(|text| plain(text)));
            blocks.extend(section.views.iter().map(|view| of_view(view, width)));
        }
        blocks.join("\n\n") + "\n"
    }
}

fn of_view(view: &View, width: Option<u16>) -> String {
    let title = (!view.title.is_empty()).then(|| view.title.clone());
    let notes = view.notes.iter().map(|note| plain(note));
    let table = view.table.as_ref().map(|table| table.to_text(width));
    title.into_iter().chain(notes).chain(table).collect::<Vec<_>>().join("\n")
}

/// Removes the backticks that mark code.
fn plain(text: &str) -> String {
    text.replace('`', "")
}
