//! The elements of small pictures and their positions.

use super::*;

/// Returns the left and right ends of the bars.
fn spans(bars: Bars) -> Vec<(f64, f64)> {
    let svg = Chart::Bars(bars).to_svg();
    let document = Document::parse(&svg).unwrap();
    let tipped =
        document.descendants().filter(|node| node.has_tag_name("rect") && node.has_children());
    let span = |node| (number(node, "x"), number(node, "x") + number(node, "width"));
    tipped.map(span).collect()
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

/// Returns the left and right ends of the intervals of bars.
fn strokes(bars: Bars) -> Vec<(f64, f64)> {
    let svg = Chart::Bars(bars).to_svg();
    let document = Document::parse(&svg).unwrap();
    let paths = document.descendants().filter_map(|node| node.attribute("d"));
    let x = |corner: &str| corner.split(' ').next().unwrap().parse().unwrap();
    let ends = |path: &str| {
        let corners: Vec<f64> = path.trim_start_matches('M').split('L').map(x).collect();
        (corners[0], *corners.last().unwrap())
    };
    paths.map(ends).collect()
}

/// Each interval is from half the value to twice the value.
#[test]
fn intervals_reach_from_end_to_end() {
    let values: &[&[Option<f64>]] = &[&[Some(1.0), None, Some(2.0)]];
    let (bars_at, strokes_at) =
        (spans(bars(false, false, 3, values)), strokes(bars(false, false, 3, values)));
    assert_eq!(strokes_at.len(), 2);
    for (bar, stroke) in bars_at.iter().zip(&strokes_at) {
        let length = bar.1 - bar.0;
        assert!(near(stroke.0 - bar.0, 0.5 * length), "{bar:?} {stroke:?}");
        assert!(near(stroke.1 - bar.0, 2.0 * length), "{bar:?} {stroke:?}");
    }
    assert!(strokes(bars(false, true, 3, values)).is_empty(), "stacked bars have no intervals");
    let below_zero = Bars { value: axis("ms", true), ..bars(true, false, 3, values) };
    let mut series = below_zero.series[0].clone();
    series.intervals = vec![Some((-1.0, 2.0)), Some((f64::NAN, 1.0)), None];
    assert_eq!(strokes(Bars { series: vec![series], ..below_zero }).len(), 1);
}

/// Returns the attributes that the script of a page reads: series, names in the legend, and which are shown at
/// first.
fn switches(chart: &Chart) -> [Vec<String>; 3] {
    let svg = chart.to_svg();
    let document = Document::parse(&svg).unwrap();
    ["data-series", "data-switch", "data-first"].map(|name| {
        let values = document.descendants().filter_map(|node| node.attribute(name));
        let mut values: Vec<_> = values.map(str::to_owned).collect();
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
    let svg = chart.to_svg();
    let document = Document::parse(&svg).unwrap();
    let titles = document.descendants().filter(|node| node.has_tag_name("title"));
    titles.map(|node| node.text().unwrap().to_owned()).collect()
}

#[test]
fn tooltips_have_label_and_numbers_of_what_can_be_drawn() {
    let dots = Chart::Plane(Plane {
        x: axis("nonzeros", true),
        y: axis("ms", true),
        series: vec![series(0, Mark::Dots, &[(0.0, 1.0), (2000.0, 0.5), (1.0, -1.0)])],
        ..Plane::default()
    });
    let expected = "gpu-hola:empty-rows=count:0 · <cant> & \n2000 → 0.500 (0.250 to 1.00)";
    assert_eq!(tips(&dots), [expected]);
    let parts = Chart::Bars(bars(false, true, 1, &[&[Some(1.0)], &[Some(2.0)]]));
    let one = Chart::Bars(bars(false, false, 1, &[&[Some(1.0)]]));
    assert_eq!(tips(&one), ["cusparse-csr:algorithm=0 · 0\n1.00 (0.500 to 2.00)"]);
    assert_eq!(
        tips(&parts),
        ["cusparse-csr:algorithm=0 · 0\n1.00", "cusparse-csr:algorithm=1 · 0\n2.00"],
        "parts of a stack have no interval"
    );
    // One of the six cells is empty: (0, 0).
    assert_eq!(tips(&heat(true, (0.25, 4.0), 2, 3, 1.0)).len(), 5);
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
    let of = |chart: &Chart| {
        let svg = chart.to_svg();
        let document = Document::parse(&svg).unwrap();
        texts(&document)
            .into_iter()
            .map(|(_, text)| text.to_owned())
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let two = Chart::Bars(bars(false, false, 2, &[&[Some(1.0), Some(2.0)]]));
    assert_eq!(
        of(&two),
        "cusparse-csr:algorithm=0 (mean 1.00) | speed over mkl-ie → | 0 | 0.5 | 1 | 1.5 | 2 | 2.5 | 3 | 3.5 | 4 | 0 | 1gen:uni"
    );
    // The cells of the second row are 8, beyond the range.
    let cells =
        "speed over mkl-ie | 0.25 | ≥ 4 | 0.5 | 1 | 2 | 0 | 1gen:u | 0 | 1gen:u | 4.0 | 8.0 | 8.0";
    assert_eq!(of(&heat(true, (0.25, 4.0), 2, 2, 4.0)), cells);
}
