//! A page as one HTML file that loads no other file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::names::{self, Names};
use super::{MARK, MOST_BYTES, Page, Section, beginning};
use crate::record::table::{Cell, Table};
use crate::report::View;
use crate::report::chart::Chart;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A table with more rows than this is folded up if a chart shows the same numbers.
const LONG: usize = 30;

/// A cell with more characters than this may be broken into lines.
const WIDE: usize = 28;

impl Page {
    /// Formats the page as HTML, with its charts, style sheet and script inside.
    pub fn to_html(&self) -> String {
        let names = names::of(self);
        let page = html! {
            (DOCTYPE)
            (PreEscaped(MARK))
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    (self.contents(&names))
                    main {
                        h1 { (self.title) }
                        (paragraphs("lead", &self.lead))
                        @for (section, names) in self.sections.iter().zip(&names) {
                            (of_section(section, names))
                        }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    fn contents(&self, names: &[Names]) -> Markup {
        html! {
            nav aria-label="Contents" {
                ul {
                    @for (section, names) in self.sections.iter().zip(names) {
                        li {
                            a href={ "#" (names.section) } { (section.title) }
                            (views(section, names))
                        }
                    }
                }
            }
        }
    }
}

/// Returns the list of a section's views in the table of contents.
fn views(section: &Section, names: &Names) -> Markup {
    let titled = section.views.iter().zip(&names.views).filter(|(view, _)| !view.title.is_empty());
    let titled: Vec<_> = titled.collect();
    html! {
        @if !titled.is_empty() {
            ul {
                @for (view, name) in titled {
                    li { a href={ "#" (name) } { (view.title) } }
                }
            }
        }
    }
}

fn of_section(section: &Section, names: &Names) -> Markup {
    html! {
        section aria-labelledby=(names.section) {
            h2 id=(names.section) { (section.title) }
            (paragraphs("lead", &section.lead))
            @for (view, name) in section.views.iter().zip(&names.views) {
                (of_view(view, name, section))
            }
        }
    }
}

fn of_view(view: &View, name: &str, section: &Section) -> Markup {
    let label = section.label(view);
    html! {
        article id=(name) {
            @if !view.title.is_empty() { h3 { (view.title) } }
            (paragraphs("note", &view.notes))
            @if let Some(chart) = &view.chart { (figure(chart, name, label)) }
            @match (&view.chart, &view.table) {
                (Some(_), Some(table)) => details open[table.rows.len() <= LONG] {
                    summary { "The numbers" }
                    (of_table(table, label))
                }
                (None, Some(table)) => (of_table(table, label)),
                (_, None) => {}
            }
        }
    }
}

fn figure(chart: &Chart, name: &str, label: &str) -> Markup {
    let svg = chart.to_svg();
    if svg.len() > MOST_BYTES {
        let note = format!("The chart is too large for this page; it is in `{name}.svg`.");
        return paragraphs("note", &[note]);
    }
    html! {
        figure.scroll.chart tabindex="0" role="img" aria-label={ "Chart: " (label) } {
            (PreEscaped(svg))
        }
    }
}

fn of_table(table: &Table, label: &str) -> Markup {
    let (table, rest) = beginning(table);
    let numeric: Vec<_> = (0..table.columns.len()).map(|index| table.is_numeric(index)).collect();
    html! {
        div.scroll.table tabindex="0" role="region" aria-label={ "Table: " (label) } {
            table {
                thead {
                    tr {
                        @for (title, &numeric) in table.columns.iter().zip(&numeric) {
                            th class=[class(numeric, "")] scope="col" { (title) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr { @for (index, cell) in row.iter().enumerate() {
                            (of_cell(cell, index == 0, numeric[index]))
                        } }
                    }
                }
            }
        }
        (paragraphs("note", rest.as_slice()))
    }
}

/// Returns a table cell. The first cell of a row is its heading.
fn of_cell(cell: &Cell, first: bool, numeric: bool) -> Markup {
    let text = cell.show();
    let class = class(numeric, &text);
    html! {
        @if first {
            th class=[class] scope="row" { (text) }
        } @else {
            td class=[class] { (text) }
        }
    }
}

/// Returns the CSS class of a cell: `n` aligns numbers to the right, `w` breaks wide texts into lines.
fn class(numeric: bool, text: &str) -> Option<&'static str> {
    if numeric { Some("n") } else { (text.chars().count() > WIDE).then_some("w") }
}

fn paragraphs(class: &str, texts: &[String]) -> Markup {
    html! {
        @for text in texts { p class=(class) { (prose(text)) } }
    }
}

/// Formats a text in which backticks mark code.
fn prose(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::{Axis, Heat};

    const NASTY: &str = r#"<b>&"'|`.mtx"#;

    fn page() -> Page {
        let table = |rows: usize| Table {
            columns: vec!["matrix".into(), NASTY.into()],
            rows: vec![vec![Cell::text(NASTY), Cell::Number(1.5)]; rows],
        };
        let value = Axis::linear(NASTY);
        let names = vec![NASTY.into()];
        let cells = vec![vec![Some(1.0)]];
        let heat = Heat { value, range: (0.0, 1.0), rows: names.clone(), columns: names, cells };
        let view = |chart, rows| View {
            title: NASTY.into(),
            notes: vec![NASTY.into()],
            chart,
            table: Some(table(rows)),
            ..View::default()
        };
        let views = vec![view(None, 1), view(Some(Chart::Heat(heat)), LONG + 1)];
        let section = Section { title: NASTY.into(), lead: vec![NASTY.into()], views };
        let sections = vec![section.clone(), section];
        Page { title: NASTY.into(), lead: vec!["run `merge` <i>".into()], sections }
    }

    /// Returns the names of the tags in a text, in order, without void elements.
    fn tags(html: &str) -> Vec<&str> {
        let tags = html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap());
        let tags = tags.filter(|tag| !tag.starts_with('!') && !tag.ends_with('/'));
        let names = tags.map(|tag| tag.split_whitespace().next().unwrap());
        names.filter(|name| *name != "meta").collect()
    }

    #[test]
    fn foreign_names_are_escaped_and_every_element_is_closed() {
        let html = page().to_html();
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
        assert!(html.contains("<p class=\"lead\">run <code>merge</code> &lt;i&gt;</p>"));
        let (page, script) = html.split_once("<script>").unwrap();
        assert!(script.ends_with("</script></body></html>"));
        let mut open = Vec::new();
        for tag in tags(page) {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{page}"),
                None => open.push(tag),
            }
        }
        assert_eq!(open, ["html", "body"]);
    }

    #[test]
    fn nothing_is_loaded_and_every_link_has_a_target_on_the_page() {
        let html = page().to_html();
        for loader in ["src=", "<link", "@import", "url(http", "url(\"http", "<iframe", "fetch("] {
            assert!(!html.contains(loader), "{loader}");
        }
        let addresses: Vec<_> = html.split("href=\"").skip(1).collect();
        assert_eq!(addresses.len(), 6, "two sections of two views");
        for rest in addresses {
            let address = rest.split('"').next().unwrap();
            let id = address.strip_prefix('#').expect("an address on the page");
            assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn long_numbers_of_a_chart_are_folded_up() {
        let html = page().to_html();
        assert_eq!(html.matches("<details>").count(), 2);
        assert_eq!(html.matches("role=\"img\" aria-label=\"Chart: ").count(), 2);
        assert_eq!(html.matches("<h1>").count(), 1);
    }

    #[test]
    fn numbers_are_marked_to_be_aligned() {
        let columns = vec!["matrix".into(), "ms".into()];
        let rows = vec![vec![Cell::text("a".repeat(41)), Cell::Count(2)]];
        let html = of_table(&Table { columns, rows }, "T").into_string();
        let long = "a".repeat(41);
        let expected = format!(
            "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"Table: T\"><table>\
             <thead><tr><th scope=\"col\">matrix</th><th class=\"n\" scope=\"col\">ms</th></tr></thead>\
             <tbody><tr><th class=\"w\" scope=\"row\">{long}</th><td class=\"n\">2</td></tr></tbody>\
             </table></div>"
        );
        assert_eq!(html, expected);
    }
}
