use super::*;
use crate::report::chart::{Axis, Bars, Chart, Heat};
use crate::table::Cell;

/// A name with marks of HTML and Markdown.
const NASTY: &str = r#"<b>&"'|`.mtx"#;

/// Returns a view with a heat map and a table of some rows.
fn heat(title: &str, name: fn(usize) -> String, rows: usize) -> View {
    let names: Vec<_> = (0..rows).map(name).collect();
    let number = |(row, name): (usize, &String)| vec![name[..].into(), Cell::Count(row as u64)];
    let heat = Heat {
        label: title.into(),
        rows: names.clone(),
        columns: vec![title.into()],
        cells: vec![vec![Some(1.0)]; rows],
    };
    let columns = vec!["matrix".into(), title.into()];
    let table = Table { columns, rows: names.iter().enumerate().map(number).collect() };
    View { title: title.into(), ..View::of(vec![title.into()], Chart::Heat(heat), table) }
}

fn page(titles: &[&str]) -> Page {
    let view = |title: &&str| View {
        title: (*title).into(),
        chart: Some(Chart::Bars(Bars { value: Axis::linear("ms"), ..Bars::default() })),
        foot: "2 matrices; C, 2026-03-02".into(),
        ..View::default()
    };
    let views = titles.iter().map(view).collect();
    let section = Section { title: "S".into(), views, ..Section::default() };
    Page { title: "P".into(), sections: vec![section], ..Page::default() }
}

fn files(folder: &Path) -> Vec<String> {
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
    assert_eq!(files(&folder), ["report.html", "report.md", "s-a.svg", "s-b.svg"]);
    fs::write(folder.join("mine.svg"), "<svg/>").unwrap();
    page(&["C"]).write(&folder).unwrap();
    assert_eq!(files(&folder), ["mine.svg", "report.html", "report.md", "s-c.svg"]);
}

/// In the page, title and foot are not part of the chart, because the page shows them itself.
#[test]
fn the_file_of_a_chart_contains_its_title_and_origin() {
    let dir = tempfile::tempdir().unwrap();
    let page = page(&["A", ""]);
    page.write(dir.path()).unwrap();
    for (name, title) in [("s-a.svg", "A"), ("s-2.svg", "S")] {
        let chart = fs::read_to_string(dir.path().join(name)).unwrap();
        for line in [title, "2 matrices; C, 2026-03-02"] {
            assert_eq!(chart.lines().filter(|other| *other == line).count(), 1, "{chart}");
        }
    }
    assert!(!page.to_html().contains("2026-03-02"));
}

#[test]
fn a_page_of_many_rows_stays_small() {
    let views = vec![heat("V", |row| format!("matrix-{row}"), 100_000)];
    let section = Section { title: "S".into(), lead: vec![], views };
    let page = Page { sections: vec![section], ..Page::default() };
    let (html, markdown) = (page.to_html(), page.to_markdown());
    let lines = [html.matches("<tr>").count(), markdown.lines().count()];
    for (text, lines) in [&html, &markdown].into_iter().zip(lines) {
        assert!(text.len() < 500_000 && lines < 2100, "{} bytes, {lines} lines", text.len());
        let note = "Only the first 1000 of 100000 rows are shown; the result files contain all";
        assert!(text.contains(note));
    }
    let note = "The chart is too large for this page; it is in <code>s-v.svg</code>";
    assert!(html.contains(note));
}

#[test]
fn files_of_other_programs_are_not_overwritten() {
    for name in ["report.html", "report.md", "s-a.svg"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::write(&path, "mine").unwrap();
        let error = page(&["A"]).write(dir.path()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} exists and was not", path.display())), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(files(dir.path()), [name]);
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = page(&[]).write(file.path()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write {}: ", file.path().display())), "{error}");
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
        let error = page(&["A"]).write(&folder).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} exists and was not", link.display())), "{error}");
        assert_eq!(fs::read_to_string(&victim).ok().as_deref(), there);
    }
}

#[test]
fn names_are_plain_and_differ() {
    let view = |title: &str| View { title: title.into(), ..View::default() };
    let views = vec![view("GFLOP/s ×2"), view("gflop s 2"), view("")];
    let section = Section { title: "f64, <b>".into(), views, ..Section::default() };
    let empty = Section { title: "→".into(), ..Section::default() };
    let sections = vec![section.clone(), section, empty];
    let names = Page { sections, ..Page::default() }.names();
    assert_eq!(names[0].0, "f64-b");
    assert_eq!(names[0].1, ["f64-b-gflop-s-2", "f64-b-gflop-s-2-2", "f64-b-2"]);
    assert_eq!((&names[1].0[..], &names[2].0[..]), ("f64-b-3", "part"));
    assert_eq!(slug(&"ab ".repeat(40)).len(), 80);
    assert_eq!(slug(&"abc ".repeat(40)).len(), 79, "no hyphen at the end");
}

/// Returns a page of two sections, each with a short and a long table.
fn nasty_page() -> Page {
    let views = [1, 31].map(|rows| heat(NASTY, |_| NASTY.into(), rows)).to_vec();
    let section = Section { title: NASTY.into(), lead: vec![NASTY.into()], views };
    let lead = vec!["run `merge` <i>".into()];
    Page { title: NASTY.into(), lead, sections: vec![section.clone(), section] }
}

#[test]
fn foreign_names_are_escaped_and_every_element_is_closed() {
    let html = nasty_page().to_html();
    assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
    assert!(html.contains("<p class=\"lead\">run <code>merge</code> &lt;i&gt;</p>"));
    let (page, script) = html.split_once("<script>").unwrap();
    assert!(script.ends_with("</script></body></html>"));
    let tags = page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap());
    let tags = tags.filter(|tag| !tag.starts_with('!') && !tag.ends_with('/'));
    let mut open = Vec::new();
    for tag in tags.map(|tag| tag.split_whitespace().next().unwrap()).filter(|tag| *tag != "meta") {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{page}"),
            None => open.push(tag),
        }
    }
    assert_eq!(open, ["html", "body"]);
}

#[test]
fn nothing_is_loaded_and_every_link_has_a_target_on_the_page() {
    let html = nasty_page().to_html();
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
    // Long numbers of a chart are folded up.
    let number = |part: &str| html.matches(part).count();
    assert_eq!((number("<details>"), number("<details open>")), (2, 2));
    assert_eq!((number("role=\"img\" aria-label=\"Chart: "), number("<h1>")), (4, 1));
}

/// A table in HTML and a page in Markdown. Numbers are aligned, and wide texts may be broken.
#[test]
fn names_are_escaped_and_numbers_are_aligned() {
    let columns = vec!["x".into(), "ms".into()];
    let long = "a".repeat(41);
    let rows = vec![vec![long[..].into(), Cell::Best(2.0)]];
    let table = Table { columns: columns.clone(), rows };
    let section = Section::of("T", table);
    let html = Page { sections: vec![section], ..Page::default() }.to_html();
    let expected = format!(
        "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"Table: T\"><table>\
         <thead><tr><th scope=\"col\">x</th><th class=\"n\" scope=\"col\">ms</th></tr></thead>\
         <tbody><tr><th class=\"w\" scope=\"row\">{long}</th><td class=\"n\"><strong>2.00</strong></td></tr></tbody>\
         </table></div>"
    );
    assert!(html.contains(&expected), "{html}");
    let table = Table { columns, rows: vec![vec!["a|b_c\n<i>".into(), Cell::Number(0.5)]] };
    let view = View {
        title: "Time [ms]".into(),
        notes: vec!["of `a*b` and _c_, 2*3".into(), "`a```<i>\u{1b}[31m` [x](y)".into()],
        table: Some(table),
        ..page(&["A"]).sections[0].views[0].clone()
    };
    let section = Section { title: "f64 & f32".into(), lead: vec![], views: vec![view] };
    let page = Page { title: "<b>".into(), lead: vec![], sections: vec![section] };
    let expected = r"
# \<b>

## f64 \& f32

### Time \[ms\]

of `a*b` and \_c\_, 2\*3

`a`\`\`\<i>\u{1b}\[31m\` \[x\](y)\`

![Time \[ms\]](f64-f32-time-ms.svg)

| x           |    ms |
|-------------|------:|
| a\|b_c \<i> | 0.500 |
";
    assert_eq!(page.to_markdown(), format!("{MARK}\n{expected}"));
}
