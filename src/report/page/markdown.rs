//! A page as GitHub-flavoured Markdown.

use super::{MARK, Page, beginning, names};
use crate::record::table::escape_markdown;
use crate::report::View;

impl Page {
    /// Formats the page as Markdown. Its charts are separate files in the same folder.
    pub fn to_markdown(&self) -> String {
        let mut blocks = vec![MARK.into(), format!("# {}", prose(&self.title))];
        blocks.extend(self.lead.iter().map(|text| prose(text)));
        for (section, names) in self.sections.iter().zip(names::of(self)) {
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

#[cfg(test)]
mod tests {
    use super::super::Section;
    use super::*;
    use crate::record::table::{Cell, Table};
    use crate::report::chart::{Axis, Bars, Chart};

    #[test]
    fn names_are_escaped() {
        let value = Axis::linear("ms");
        let bars = Bars { value, ..Bars::default() };
        let rows = vec![vec![Cell::text("a|b_c\n<i>"), Cell::Number(0.5)]];
        let view = View {
            title: "Time [ms]".into(),
            notes: vec!["of `a*b` and _c_, 2*3".into()],
            chart: Some(Chart::Bars(bars)),
            table: Some(Table { columns: vec!["x".into(), "ms".into()], rows }),
            ..View::default()
        };
        let section = Section { title: "f64 & f32".into(), lead: vec![], views: vec![view] };
        let page = Page { title: "<b>".into(), lead: vec![], sections: vec![section] };
        let expected = r"
# \<b>

## f64 \& f32

### Time \[ms\]

of `a*b` and \_c\_, 2\*3

![Time \[ms\]](f64-f32-time-ms.svg)

| x           |    ms |
|-------------|------:|
| a\|b_c \<i> | 0.500 |
";
        assert_eq!(page.to_markdown(), format!("{MARK}\n{expected}"));
    }
}
