//! The names of sections and views in HTML anchors and file names.

use std::collections::BTreeSet;

use super::Page;

/// The names of a section and its views. Each is unique on the page.
pub(super) struct Names {
    pub(super) section: String,
    pub(super) views: Vec<String>,
}

/// Returns the names of all sections, in their order.
pub(super) fn of(page: &Page) -> Vec<Names> {
    let mut taken = BTreeSet::new();
    let names = page.sections.iter().map(|section| {
        let name = unique(slug(&section.title), &mut taken);
        let views = section.views.iter();
        let views = views.map(|view| slug(&format!("{} {}", section.title, view.title)));
        Names { section: name, views: views.map(|view| unique(view, &mut taken)).collect() }
    });
    names.collect()
}

/// Returns the ASCII letters and digits of a title, lower case, joined by hyphens, at most 80 characters.
fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-");
    name.truncate(80);
    let name = name.trim_end_matches('-');
    if name.is_empty() { "part".into() } else { name.into() }
}

/// Appends a number to a name if it is already taken.
fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.expect("numbers do not end");
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::super::Section;
    use super::*;
    use crate::report::View;

    #[test]
    fn names_are_plain_and_differ() {
        let view = |title: &str| View { title: title.into(), ..View::default() };
        let views = vec![view("GFLOP/s ×2"), view("gflop s 2"), view("")];
        let section = Section { title: "f64, <b>".into(), views, ..Section::default() };
        let empty = Section { title: "→".into(), ..Section::default() };
        let sections = vec![section.clone(), section, empty];
        let names = of(&Page { sections, ..Page::default() });
        assert_eq!(names[0].section, "f64-b");
        assert_eq!(names[0].views, ["f64-b-gflop-s-2", "f64-b-gflop-s-2-2", "f64-b-2"]);
        assert_eq!(names[1].section, "f64-b-3");
        assert_eq!(names[2].section, "part");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(slug(&"ab ".repeat(40)).len(), 80);
        assert_eq!(slug(&"abc ".repeat(40)).len(), 79, "no hyphen at the end");
    }
}
