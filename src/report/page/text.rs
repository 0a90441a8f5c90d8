//! A page on the terminal: titles, notes and tables, no charts.

use super::Page;
use crate::report::View;

impl Page {
    /// Its texts and tables, these no wider than `width` characters if that is given.
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

/// Without the marks of code.
fn plain(text: &str) -> String {
    text.replace('`', "")
}
