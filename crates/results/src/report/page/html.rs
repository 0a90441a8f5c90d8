//! A page as one HTML file that loads no other file.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{MARK, MOST_BYTES, Page, Section, beginning};
use crate::report::chart::Chart;
use crate::report::view::View;
use crate::table::terminal::shown;
use crate::table::{Cell, Table};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A table with more rows than this is folded up if a chart shows the same numbers.
const LONG_TABLE_ROWS: usize = 30;

/// A cell with more characters than this may be broken into lines.
const WIDE_CELL_CHARS: usize = 28;

impl Page {
    pub fn to_html(&self) -> String {
        let names = self.names();
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
                    nav aria-label="Contents" {
                        ul {
                            @for (section, (name, views)) in self.sections.iter().zip(&names) {
                                li {
                                    a href={ "#" (name) } { (section.title) }
                                    (contents(section, views))
                                }
                            }
                        }
                    }
                    main {
                        h1 { (self.title) }
                        (paragraphs("lead", &self.lead))
                        @for (section, (name, views)) in self.sections.iter().zip(&names) {
                            section aria-labelledby=(name) {
                                h2 id=(name) { (section.title) }
                                (paragraphs("lead", &section.lead))
                                @for (view, name) in section.views.iter().zip(views) {
                                    (of_view(view, name, section))
                                }
                            }
                        }
                    }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        shown(&page.into_string()).into_owned()
    }
}

fn contents(section: &Section, names: &[String]) -> Markup {
    let views = section.views.iter().zip(names);
    let titled: Vec<_> = views.filter(|(view, _)| !view.title.is_empty()).collect();
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

fn of_view(view: &View, name: &str, section: &Section) -> Markup {
    let label = section.label(view);
    html! {
        article id=(name) {
            @if !view.title.is_empty() { h3 { (view.title) } }
            (paragraphs("note", &view.notes))
            @if let Some(chart) = &view.chart { (figure(chart, name, label)) }
            @match (&view.chart, &view.table) {
                (Some(_), Some(table)) => details open[table.rows.len() <= LONG_TABLE_ROWS] {
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
                            @let text = cell.show();
                            @let class = class(numeric[index], &text);
                            @if index == 0 {
                                th class=[class] scope="row" { (text) }
                            } @else if matches!(cell, Cell::Best(_)) {
                                td class=[class] { strong { (text) } }
                            } @else {
                                td class=[class] { (text) }
                            }
                        } }
                    }
                }
            }
        }
        (paragraphs("note", rest.as_slice()))
    }
}

/// Returns the CSS class of a cell: `n` aligns numbers to the right, `w` breaks wide texts into lines.
fn class(numeric: bool, text: &str) -> Option<&'static str> {
    if numeric { Some("n") } else { (text.chars().count() > WIDE_CELL_CHARS).then_some("w") }
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
