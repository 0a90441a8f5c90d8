//! Checks that hold for every picture, on charts that are hard to lay out.

mod small;

use roxmltree::{Document, Node};

use super::theme::{FONT, text_width};
use super::*;

const LONG: &str = "gen:uniform,rows=1000000,length=32,band=1000000,random=1";

fn axis(label: &str, log: bool) -> Axis {
    Axis { log, ..Axis::linear(label) }
}

fn series(index: usize, mark: Mark, points: &[(f64, f64)]) -> Series {
    let points = points.iter().map(|&(x, y)| Point {
        x,
        y,
        spread: Some((0.5 * y, 2.0 * y)),
        label: Some("<cant> & \u{1}".into()),
    });
    let name = format!("gpu-hola:empty-rows=count:{index}");
    Series { name, mark, points: points.collect() }
}

fn plane(logs: (bool, bool), count: usize, points: &[(f64, f64)]) -> Chart {
    let marks = [Mark::Dots, Mark::Line, Mark::Trend];
    let guide = |name: &str| Guide { name: name.into(), points: points.to_vec() };
    Chart::Plane(Plane {
        x: axis("products until the setup has paid off", logs.0),
        y: axis(&LONG.repeat(3), logs.1),
        series: (0..count).map(|index| series(index, marks[index % 3], points)).collect(),
        guides: if count > 1 { vec![guide("memory (24 GB/s)"), guide(LONG)] } else { vec![] },
        few: vec![],
    })
}

fn bars(log: bool, stacked: bool, categories: usize, values: &[&[Option<f64>]]) -> Bars {
    let series = values.iter().enumerate().map(|(index, values)| BarSeries {
        name: format!("cusparse-csr:algorithm={index}"),
        values: values.to_vec(),
        intervals: values.iter().map(|value| value.map(|at| (0.5 * at, 2.0 * at))).collect(),
        mean: values.first().copied().flatten(),
    });
    let name = |index| format!("{index}{}", &LONG[..(index * 7) % LONG.len()]);
    let categories = (0..categories).map(name).collect();
    let (value, series) = (axis("speed over mkl-ie", log), series.collect());
    Bars { value, categories, series, stacked, few: vec![] }
}

fn heat(log: bool, range: (f64, f64), rows: usize, columns: usize, value: f64) -> Chart {
    let name = |index| format!("{index}{}", &LONG[..(index * 5) % 27]);
    let cell = |row, column| ((row + column) % 5 > 0).then_some(value * (1 + row) as f64);
    Chart::Heat(Heat {
        value: axis("speed over mkl-ie", log),
        range,
        rows: (0..rows).map(name).collect(),
        columns: (0..columns).map(name).collect(),
        cells: (0..rows)
            .map(|row| (0..columns).map(|column| cell(row, column)).collect())
            .collect(),
    })
}

/// Returns difficult sets of points: none, one, equal ones, close ones, distant ones, infinities and NaN.
fn hard_points() -> Vec<Vec<(f64, f64)>> {
    let nan = f64::NAN;
    vec![
        vec![],
        vec![(5.0, 5.0)],
        vec![(7.0, 7.0); 3],
        vec![(0.0, 0.0), (0.0, -1.0)],
        vec![(1.0, 1.0), (1.02, 1.02)],
        vec![(1.0, 1.0), (1.000001, 1.000001)],
        vec![(2.1, 2.1), (4.9, 4.9)],
        vec![(9.0, 9.0), (11.0, 11.0)],
        vec![(1e12, 1e12), (1.0001e12, 1.0001e12)],
        vec![(3e-5, 3e-5), (2e-3, 2e-3)],
        vec![(1e-9, 1e-9), (1e9, 1e9)],
        vec![(f64::MIN_POSITIVE, 1e-320), (f64::MAX, 1e300), (-1e300, -1e300)],
        vec![(nan, 1.0), (1.0, nan), (f64::INFINITY, 2.0), (2.0, f64::NEG_INFINITY)],
        (0..200).map(|i| (1.1f64.powi(i), 1.07f64.powi(-i))).collect(),
    ]
}

fn hard_charts() -> Vec<Chart> {
    let mut charts = vec![];
    for points in hard_points() {
        for logs in [(false, false), (true, false), (false, true), (true, true)] {
            charts.extend([0, 1, 25].map(|count| plane(logs, count, &points)));
        }
        let values: Vec<_> = points.iter().map(|point| Some(point.1)).chain([None]).collect();
        let numbers = points.iter().map(|point| point.1);
        let range =
            numbers.fold((0.0, 0.0), |range: (f64, f64), y| (range.0.min(y), range.1.max(y)));
        for log in [false, true] {
            for stacked in [false, true] {
                let values: &[Option<f64>] = &values;
                charts.push(Chart::Bars(bars(log, stacked, 64, &[values; 25])));
                charts.push(Chart::Bars(bars(log, stacked, values.len(), &[values, &[], values])));
                charts.push(Chart::Bars(bars(log, stacked, 3, &[])));
            }
            let value = points.last().map_or(1.0, |point| point.1);
            charts.push(heat(log, range, 64, 30, value));
            charts.push(heat(log, (0.25, 4.0), 2, 3, value));
            charts.push(heat(log, (f64::NAN, 1.0), 3, 0, value));
            charts.push(heat(log, (1.0, 1.0), 0, 3, value));
            charts.push(heat(log, (0.0, 1e-320), 2, 2, value));
        }
    }
    charts
}

/// The left, top, right and bottom edges of a rectangle.
type Area = [f64; 4];

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn texts<'a>(document: &'a Document) -> Vec<(Area, &'a str)> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| (area(node), node.text().unwrap().trim())).collect()
}

/// Returns the area of a text, with the widest common font.
fn area(node: Node) -> Area {
    let (x, y) = (number(node, "x"), number(node, "y"));
    let width = text_width(node.text().unwrap().trim());
    let (up, down) = (FONT * 0.8, FONT * 0.2);
    if let Some(turned) = node.attribute("transform") {
        assert_eq!(turned, format!("rotate(-90 {x} {y})"));
        return [x - up, y - width, x + down, y];
    }
    let left = match node.attribute("text-anchor").unwrap() {
        "start" => x,
        "middle" => x - width / 2.0,
        _ => x - width,
    };
    [left, y - up, left + width, y + down]
}

fn overlap(a: Area, b: Area) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

#[test]
fn texts_lie_in_the_picture_and_never_on_each_other() {
    for chart in hard_charts() {
        let svg = chart.to_svg();
        let document = Document::parse(&svg).unwrap();
        let whole = document.root_element().attribute("viewBox").unwrap();
        let [_, _, width, height] = whole.split(' ').collect::<Vec<_>>()[..] else { panic!() };
        let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
        let texts = texts(&document);
        for (index, (area, text)) in texts.iter().enumerate() {
            let inside = area[0] > -0.1 && area[1] > -0.1 && area[2] < width + 0.1;
            assert!(inside && area[3] < height, "'{text}' at {area:?} of {whole}");
            for (other, below) in &texts[..index] {
                assert!(!overlap(*area, *other), "'{text}' at {area:?}, '{below}' at {other:?}");
            }
        }
    }
}

#[test]
fn coordinates_are_numbers_to_a_tenth() {
    const PLACES: [&str; 10] =
        ["x", "y", "x1", "x2", "y1", "y2", "width", "height", "viewBox", "transform"];
    for chart in hard_charts() {
        let svg = chart.to_svg();
        let document = Document::parse(&svg).unwrap();
        let attributes = document.descendants().flat_map(|node| node.attributes());
        for attribute in attributes.filter(|attribute| PLACES.contains(&attribute.name())) {
            let inside = attribute.value().rsplit('(').next().unwrap().trim_end_matches(')');
            for part in inside.split(' ') {
                let value: f64 = part.parse().unwrap();
                assert!(value.is_finite() && value.abs() < 1e5, "{attribute:?}");
                assert!(part.split_once('.').is_none_or(|part| part.1.len() == 1), "{attribute:?}");
            }
        }
        let paths = document.descendants().filter_map(|node| node.attribute("d"));
        assert!(paths.into_iter().all(|path| !path.contains("NaN") && !path.contains("inf")));
    }
}

/// A page contains several pictures, so none may use ids or style anything outside of itself.
#[test]
fn a_picture_leaves_the_page_around_it_alone() {
    for chart in [plane((true, true), 3, &[(1.0, 2.0)]), heat(false, (0.0, 1.0), 2, 2, 1.0)] {
        let svg = chart.to_svg();
        let document = Document::parse(&svg).unwrap();
        assert!(document.descendants().all(|node| node.attribute("id").is_none()));
        let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap();
        let rules = style.text().unwrap().replace("@media(prefers-color-scheme:dark){", "");
        let selectors = rules.split('}').filter_map(|rule| rule.trim().split_once('{'));
        assert!(
            selectors.clone().count() == 2
                && selectors.into_iter().all(|s| s.0 == "svg.chart:root")
        );
        assert_eq!(document.root_element().attribute("class"), Some("chart"));
    }
}
