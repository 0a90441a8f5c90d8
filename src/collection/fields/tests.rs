use super::*;
use spmv_results::filter::Filter;

#[test]
fn help_names_every_field() {
    assert!(Matrix::names().all(|name| FORMS.contains(name)));
}

fn matrix() -> Matrix {
    Matrix {
        kind: "circuit simulation problem".into(),
        pattern_symmetry: Some(0.9999998517635799),
        numerical_symmetry: Some(0.4198865531852634),
        ..Matrix::of_size("Freescale/circuit5M", 5_558_326, 5_558_326, 59_524_291)
    }
}

fn parse(text: &str) -> Result<Filter<Matrix>, String> {
    text.parse()
}

#[test]
fn filters_select_the_expected_matrices() {
    for (text, expected) in [
        ("nnz>5e7", true),
        ("nnz < 1e7 && kind~circuit", false),
        ("kind ~ 'CIRCUIT sim'", true),
        ("name ~ CIRCUIT5m", true),
        ("kind = circuit", false),
        ("kind = circuit simulation problem && real", true),
        ("name=\"circuit5M\"", true),
        ("kind != 'salt and pepper'", true),
        ("group != Freescale", false),
        ("rows = 5_558_326", true),
        ("archive >= 416670037 && archive <= 416670037", true),
        ("nnz < inf", true),
        ("symmetry >= 0.99 && symmetry < 1", true),
        ("square", true),
        ("symmetric || binary || complex", false),
        ("!symmetric", true),
        ("!!square", true),
        // && has a higher precedence than ||, and ! than both.
        ("square || square && binary", true),
        ("(square || square) && binary", false),
        ("!binary && square", true),
        ("!(binary && square)", true),
        ("!square && binary", false),
        ("!square || square", true),
        ("kind~nothing || (kind~circuit)", true),
    ] {
        let filter = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(filter.passes(&matrix()), expected, "{text}");
    }
}

/// A symmetric pattern alone is not sufficient.
#[test]
fn matrices_are_symmetric_by_their_values() {
    let of = |pattern, numerical| {
        let (pattern_symmetry, numerical_symmetry) = (Some(pattern), Some(numerical));
        let matrix = Matrix { pattern_symmetry, numerical_symmetry, ..matrix() };
        parse("symmetric").unwrap().passes(&matrix)
    };
    assert_eq!((of(1.0, 0.9), of(1.0, 1.0)), (false, true));
}

#[test]
fn an_unknown_number_fails_every_comparison() {
    let unknown = Matrix { pattern_symmetry: None, ..matrix() };
    for text in ["symmetry >= 0", "symmetry < 1", "symmetry != 0.5"] {
        assert!(!parse(text).unwrap().passes(&unknown), "{text}");
    }
}

#[test]
fn errors_name_the_position_and_the_valid_words() {
    let beginnings = "one of rows, cols, nnz, entries, archive, symmetry, group, name, kind, \
                      square, symmetric, binary, real, complex, ! or (";
    let and = "'and' (write &&, or put a text with 'and' in quotes)";
    for (text, column, allowed, found) in [
        ("", 1, beginnings, "the end"),
        ("nzn<1", 1, beginnings, "'nzn<1' (did you mean nnz?)"),
        ("nnz ~ 5", 5, "<, <=, >, >=, = or !=", "'~'"),
        ("nnz<1e7 kind~x", 9, "&&, || or the end", "'kind~x'"),
        ("nnz < 1e7 and real", 11, "&&, || or the end", and),
        ("kind ~ x and real", 10, "&& or ||", and),
        ("nnz<many", 5, "a number such as 1e7 or 10_000", "'many'"),
        ("nnz<nan", 5, "a number such as 1e7 or 10_000", "'nan'"),
        ("(square", 8, "&&, || or )", "the end"),
        ("square)", 7, "&&, || or the end", "')'"),
        ("kind<x", 5, "=, != or ~", "'<x'"),
        ("kind~ && real", 7, "a text", "'&&'"),
        ("kind~'x", 6, "a text with a closing quote", "''x'"),
        ("real && ü", 9, beginnings, "'ü'"),
    ] {
        let error = parse(text).unwrap_err();
        let place = format!("filter, character {column}");
        assert_eq!(error, format!("{place}: expected {allowed}, but found {found}"));
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth| format!("{}real{}", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&nested(60)).unwrap().passes(&matrix()));
    let error = parse(&nested(100_000)).unwrap_err();
    assert!(error.contains(": expected at most 64 levels of ! and"), "{error:.100}");
    assert!(parse(&format!("{}real", "!".repeat(100_000))).is_err());
}

#[test]
fn a_conjunction_is_met_by_items_that_meet_both_filters() {
    let and = |a: &str, b: &str| parse(a).unwrap().and(&parse(b).unwrap());
    let both = and("binary || square", "nnz > 1");
    assert_eq!(both.to_string(), "(binary || square) && nnz > 1");
    assert!(both.passes(&matrix()) && !and("square", "binary").passes(&matrix()));
    assert_eq!(Filter::default().and(&both), both);
    assert!(parse(&both.to_string()).unwrap().passes(&matrix()));
}
