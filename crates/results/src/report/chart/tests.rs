//! Checks that hold for every figure, on charts that are hard to lay out; then the elements of small figures.

use roxmltree::{Document, Node};

use super::figure::{FONT, text_width};
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
    Series { name, mark, points: points.collect(), outliers: vec![] }
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
    let series = values.iter().enumerate().map(|(index, values)| {
        let interval = |value: &Option<f64>| value.map(|at| (0.5 * at, 2.0 * at));
        BarSeries {
            name: format!("cusparse-csr:algorithm={index}"),
            values: values.to_vec(),
            intervals: values.iter().filter(|_| !stacked).map(interval).collect(),
            mean: values.first().copied().flatten().filter(|_| !stacked),
        }
    });
    let name = |index| format!("{index}{}", &LONG[..(index * 7) % LONG.len()]);
    let categories = (0..categories).map(name).collect();
    let (value, series) = (axis("speed over mkl-ie", log), series.collect());
    Bars { value, categories, series, stacked, few: vec![] }
}

fn heat(rows: usize, columns: usize, value: f64) -> Chart {
    let name = |index| format!("{index}{}", &LONG[..(index * 5) % 27]);
    let cell = |row, column| ((row + column) % 5 > 0).then_some(value * (1 + row) as f64);
    Chart::Heat(Heat {
        label: "% of the fastest".into(),
        rows: (0..rows).map(name).collect(),
        columns: (0..columns).map(name).collect(),
        cells: (0..rows).map(|row| (0..columns).map(|of| cell(row, of)).collect()).collect(),
    })
}

fn seen<T>(chart: &Chart, read: impl Fn(&Document) -> T) -> T {
    let svg = chart.to_svg();
    read(&Document::parse(&svg).unwrap())
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
        let values = &values[..];
        let value = points.last().map_or(1.0, |point| point.1);
        charts.extend([(64, 30), (2, 3), (3, 0), (0, 3)].map(|(rows, of)| heat(rows, of, value)));
        for log in [false, true] {
            for stacked in [false, true] {
                charts.push(Chart::Bars(bars(log, stacked, 64, &[values; 25])));
                charts.push(Chart::Bars(bars(log, stacked, values.len(), &[values, &[], values])));
                charts.push(Chart::Bars(bars(log, stacked, 3, &[])));
            }
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
fn texts_lie_in_the_figure_and_never_on_each_other() {
    let check = |document: &Document| {
        let whole = document.root_element().attribute("viewBox").unwrap();
        let [_, _, width, height] = whole.split(' ').collect::<Vec<_>>()[..] else { panic!() };
        let (width, height): (f64, f64) = (width.parse().unwrap(), height.parse().unwrap());
        let texts = texts(document);
        for (index, (area, text)) in texts.iter().enumerate() {
            let inside = area[0] > -0.1 && area[1] > -0.1 && area[2] < width + 0.1;
            assert!(inside && area[3] < height, "'{text}' at {area:?} of {whole}");
            for (other, below) in &texts[..index] {
                assert!(!overlap(*area, *other), "'{text}' at {area:?}, '{below}' at {other:?}");
            }
        }
    };
    hard_charts().iter().for_each(|chart| seen(chart, check));
}

#[test]
fn coordinates_are_numbers_to_a_tenth() {
    const PLACES: [&str; 10] = ["x", "y", "x1", "x2", "y1", "y2", "width", "height", "viewBox", "transform"];
    let check = |document: &Document| {
        let attributes = document.descendants().flat_map(|node| node.attributes());
        for attribute in attributes.filter(|attribute| PLACES.contains(&attribute.name())) {
            let inside = attribute.value().rsplit('(').next().unwrap().trim_end_matches(')');
            for part in inside.split(' ') {
                let value: f64 = part.parse().unwrap();
                assert!(value.is_finite() && value.abs() < 1e5, "{attribute:?}");
                assert!(part.split_once('.').is_none_or(|part| part.1.len() == 1), "{attribute:?}");
            }
        }
        let mut paths = document.descendants().filter_map(|node| node.attribute("d"));
        assert!(paths.all(|path| !path.contains("NaN") && !path.contains("inf")));
    };
    hard_charts().iter().for_each(|chart| seen(chart, check));
}

/// A page contains several figures, so none may use ids or style anything outside of itself.
#[test]
fn a_figure_leaves_the_page_around_it_alone() {
    let check = |document: &Document| {
        assert!(document.descendants().all(|node| node.attribute("id").is_none()));
        let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap();
        let rules = style.text().unwrap().replace("@media(prefers-color-scheme:dark){", "");
        let selectors = rules.split('}').filter_map(|rule| Some(rule.trim().split_once('{')?.0));
        assert_eq!(selectors.collect::<Vec<_>>(), ["svg.chart:root"; 2]);
        assert_eq!(document.root_element().attribute("class"), Some("chart"));
    };
    seen(&plane((true, true), 3, &[(1.0, 2.0)]), check);
    seen(&heat(2, 2, 1.0), check);
}

fn spans(bars: Bars) -> Vec<(f64, f64)> {
    let span = |node: Node| (number(node, "x"), number(node, "x") + number(node, "width"));
    seen(&Chart::Bars(bars), |document| {
        let rectangles = document.descendants().filter(|node| node.has_tag_name("rect"));
        rectangles.filter(Node::has_children).map(span).collect()
    })
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.25
}

#[test]
fn bars_are_as_long_as_their_values() {
    let of = |log, stacked, values: &[&[Option<f64>]]| spans(bars(log, stacked, 3, values));
    let linear = of(false, false, &[&[Some(1.0), Some(2.0), Some(-1.0)]]);
    let unit = linear[0].1 - linear[0].0;
    assert!(near(linear[1].1 - linear[1].0, 2.0 * unit), "{linear:?}");
    assert!(near(linear[2].1, linear[0].0) && near(linear[2].0, linear[0].0 - unit), "{linear:?}");
    // The axis begins at 0.1: one, two and three decades.
    let log = of(true, false, &[&[Some(1.0), Some(10.0), Some(100.0)]]);
    let decade = log[0].1 - log[0].0;
    assert!(near(log[1].1 - log[1].0, 2.0 * decade), "{log:?}");
    assert!(near(log[2].1 - log[2].0, 3.0 * decade), "{log:?}");
    let stacked = of(false, true, &[&[Some(1.0), None], &[Some(3.0), Some(4.0)]]);
    assert!(near(stacked[1].0, stacked[0].1) && near(stacked[1].1, stacked[2].1), "{stacked:?}");
    assert!(near(stacked[2].0, stacked[0].0), "{stacked:?}");
}

fn strokes(bars: Bars) -> Vec<(f64, f64)> {
    let x = |corner: &str| corner.split(' ').next().unwrap().parse().unwrap();
    let ends = |path: &str| {
        let corners: Vec<f64> = path.trim_start_matches('M').split('L').map(x).collect();
        (corners[0], *corners.last().unwrap())
    };
    seen(&Chart::Bars(bars), |document| {
        document.descendants().filter_map(|node| node.attribute("d")).map(ends).collect()
    })
}

/// Each interval is from half the value to twice the value.
#[test]
fn intervals_reach_from_end_to_end() {
    let three = || bars(false, false, 3, &[&[Some(1.0), None, Some(2.0)]]);
    let (bars_at, strokes_at) = (spans(three()), strokes(three()));
    assert_eq!(strokes_at.len(), 2);
    for (bar, stroke) in bars_at.iter().zip(&strokes_at) {
        let length = bar.1 - bar.0;
        assert!(near(stroke.0 - bar.0, 0.5 * length), "{bar:?} {stroke:?}");
        assert!(near(stroke.1 - bar.0, 2.0 * length), "{bar:?} {stroke:?}");
    }
    let mut below_zero = Bars { value: axis("ms", true), ..three() };
    below_zero.series[0].intervals = vec![Some((-1.0, 2.0)), Some((f64::NAN, 1.0)), None];
    assert_eq!(strokes(below_zero).len(), 1);
}

/// Returns the attributes for the script of a page: series, names in the legend, and which are shown at first.
fn switches(chart: &Chart) -> [Vec<String>; 3] {
    ["data-series", "data-switch", "data-first"].map(|name| {
        let mut values: Vec<String> = seen(chart, |document| {
            document.descendants().filter_map(|node| Some(node.attribute(name)?.into())).collect()
        });
        if name == "data-series" {
            values.dedup();
        }
        values
    })
}

#[test]
fn many_series_can_be_shown_and_hidden_each() {
    let points = [(1.0, 1.0), (2.0, 2.0)];
    let of = |count: usize, few: &[&str]| {
        let Chart::Plane(plane) = plane((false, false), count, &points) else { panic!() };
        let dots = |series: &Series| Series { mark: Mark::Dots, ..series.clone() };
        let series = plane.series.iter().map(dots).collect();
        let few = few.iter().map(|name| (*name).to_owned()).collect();
        switches(&Chart::Plane(Plane { series, few, ..plane }))
    };
    assert_eq!(of(6, &["gpu-hola:empty-rows=count:1"]), [[""; 0]; 3]);
    let [series, names, first] = of(7, &["gpu-hola:empty-rows=count:1"]);
    let all: Vec<_> = (0..7).map(|index| index.to_string()).collect();
    assert_eq!((&series[..7], &names), (&all[..], &all));
    assert_eq!(first, ["false", "true", "false", "false", "false", "false", "false"]);
    assert_eq!(of(7, &[])[2], ["true"; 7]);
    assert_eq!(of(7, &["gone"])[2], ["true"; 7]);
    let values: &[Option<f64>] = &[Some(1.0)];
    let of_bars = |stacked| switches(&Chart::Bars(bars(false, stacked, 1, &[values; 7])));
    assert_eq!(of_bars(false)[..2], [all.clone(), all]);
    assert_eq!(of_bars(true), [[""; 0]; 3], "stacked bars have no switches");
}

fn tips(chart: &Chart) -> Vec<String> {
    seen(chart, |document| {
        let titles = document.descendants().filter(|node| node.has_tag_name("title"));
        titles.map(|node| node.text().unwrap().to_owned()).collect()
    })
}

#[test]
fn tooltips_have_label_and_numbers_of_what_can_be_drawn() {
    let dots = Chart::Plane(Plane {
        x: axis("nonzeros", true),
        y: axis("ms", true),
        series: vec![series(0, Mark::Dots, &[(0.0, 1.0), (2000.0, 0.5), (1.0, -1.0)])],
        ..Plane::default()
    });
    let expected = "gpu-hola:empty-rows=count:0 · <cant> & \\u{1}\n2000 → 0.500 (0.250 to 1.00)";
    assert_eq!(tips(&dots), [expected]);
    let one = Chart::Bars(bars(false, false, 1, &[&[Some(1.0)]]));
    assert_eq!(tips(&one), ["cusparse-csr:algorithm=0 · 0\n1.00 (0.500 to 2.00)"]);
    let parts = Chart::Bars(bars(false, true, 1, &[&[Some(1.0)], &[Some(2.0)]]));
    let expected = ["cusparse-csr:algorithm=0 · 0\n1.00", "cusparse-csr:algorithm=1 · 0\n2.00"];
    assert_eq!(tips(&parts), expected);
    // One of the six cells is empty: (0, 0).
    assert_eq!(tips(&heat(2, 3, 1.0)).len(), 5);
}

/// A coordinate extends its axis only if the other coordinate of the point can be shown too.
#[test]
fn points_that_are_left_out_do_not_extend_the_axes() {
    let of = |points: &[(f64, f64)]| plane((true, false), 1, points).to_svg();
    let points = [(1.0, 2.0), (10.0, 3.0)];
    assert_eq!(of(&[points[0], points[1], (0.0, 1e9), (f64::NAN, -1e9)]), of(&points));
}

#[test]
fn names_and_numbers_are_written() {
    let of = |chart: &Chart| seen(chart, |of| texts(of).iter().map(|text| text.1).collect::<Vec<_>>().join(" | "));
    let two = Chart::Bars(bars(false, false, 2, &[&[Some(1.0), Some(2.0)]]));
    assert_eq!(
        of(&two),
        "cusparse-csr:algorithm=0 (mean 1.00) | speed over mkl-ie → | 0 | 0.5 | 1 | 1.5 | 2 | 2.5 | 3 | 3.5 | 4 | 0 | \
         1gen:uni"
    );
    let cells = "% of the fastest | 0 | 100 | 20 | 40 | 60 | 80 | 0 | 1gen:u | 0 | 1gen:u | 50 | 100 | 100";
    assert_eq!(of(&heat(2, 2, 50.0)), cells);
}
