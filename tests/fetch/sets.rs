//! Tests the selection of matrices: sets, the index, filters.

use expect_test::expect;

use crate::place::{HINT, Place};
use crate::server::{Reply, Server, declaring, status};

const INDEX: &str = "3\n08-Oct-2020 17:09:58\n\
    V,far,5,5,7,1,0,0,0,0.5,0.25,circuit simulation problem,7\n\
    V,Near,6,5,9,1,0,0,0,0,0,least squares problem,9\n\
    W,far,7,7,11,0,0,0,0,1,0,electromagnetics problem,11\n";
const OTHER: &str = "1\n\nX,new,5,5,7,1,0,0,0,0.5,0.25,kind,7\n";

fn indexed() -> Place {
    let place = Place::new();
    place.server.serve("/files/ssstats.csv", INDEX.as_bytes(), &[Reply::File]);
    place
}

#[test]
fn a_list_shows_sets_and_matrices_without_requests() {
    let place = Place::with_both();
    place.succeed("--list");
    assert!(!place.path("to").exists());
    place.run("T/tiny");
    place.server.requests();
    let listed = place.succeed("--list").stdout;
    let (sets, matrices) = listed.split_once("\n\n").unwrap();
    let default = sets.lines().find(|line| line.starts_with("default ")).unwrap();
    assert!(sets.starts_with("set") && default.ends_with("         2  these tests"), "{sets}");
    expect![[r#"
        matrix         rows         cols            nnz  archive MB  present  kind
        T/tiny            3            4              3      ~0.000  yes      tiny problem
        U/tiny            2            2              3      ~0.000  no       tiny problem
        1 present, 1 to download: ~0.000 MB of archives
    "#]]
    .assert_eq(matrices);
    assert_eq!(place.run("default --list").stdout, matrices);
    assert_eq!(listed_ids(&place, "default --filter rows<3"), ["U/tiny"]);
    assert_eq!(place.server.requests(), []);
}

fn listed_ids(place: &Place, words: &str) -> Vec<String> {
    let ran = place.succeed(&format!("{words} --list"));
    let rows = ran.stdout.lines().skip(1).filter_map(|line| line.split(' ').next());
    rows.filter(|id| id.contains('/')).map(str::to_owned).collect()
}

/// Without a downloaded index, the built-in one of the collection is used, without a network.
#[test]
fn the_collection_is_known_without_an_index() {
    let place = Place::new();
    assert_eq!(listed_ids(&place, "west0479"), ["HB/west0479"]);
    let dated = "the collection's index of 08-Oct-2020 17:09:58: 2893 matrices (--update-index asks for a newer one)\n";
    let ran = place.succeed("--list --filter kind~circuit&&nnz<100");
    assert!(ran.stderr == dated && ran.stdout.contains("\nHamrle/Hamrle1 "), "{ran:?}");
    for (words, expected) in [
        ("west479", "there is no set or matrix 'west479'; did you mean west0479, west0497"),
        ("hb/West0479", "there is no matrix 'hb/West0479'; matrices with this name: HB/west0479\n"),
    ] {
        place.run(words).exits(2).says(expected);
    }
    assert_eq!(place.server.requests(), []);
}

#[test]
fn the_index_is_requested_once_from_every_mirror() {
    let (place, other) = (indexed(), Server::start());
    assert_eq!(listed_ids(&place, "--all --update-index"), ["V/far", "V/Near", "W/far"]);
    assert_eq!(place.server.paths(), ["/files/ssstats.csv"]);
    assert_eq!(listed_ids(&place, "--filter square&&real"), ["V/far"]);
    assert_eq!(listed_ids(&place, "W/far T/tiny W/far"), ["W/far", "T/tiny"]);
    other.serve("/files/ssstats.csv", OTHER.as_bytes(), &[Reply::File]);
    let first = place.server.address();
    let place = place.asking(other.address());
    assert_eq!(listed_ids(&place, "--all --update-index"), ["X/new"]);
    let place = place.asking(first);
    assert_eq!(listed_ids(&place, "--all"), ["V/far", "V/Near", "W/far"]);
    assert_eq!(place.server.requests(), []);
}

/// What is downloaded has a line before it with the number of matrices, their bytes and the free space.
#[test]
fn the_index_is_updated_only_if_asked() {
    let place = indexed();
    let dated = "the collection's index of 08-Oct-2020 17:09:58: 3 matrices (--update-index asks for a newer one)\n";
    let ran = place.succeed("--update-index");
    assert_eq!((ran.stdout, ran.stderr), (String::new(), dated.to_owned()));
    assert_eq!(place.server.paths(), ["/files/ssstats.csv"]);
    place.server.serve("/files/ssstats.csv", OTHER.as_bytes(), &[Reply::File]);
    let ran = place.succeed("--all --list");
    assert!(ran.stderr == dated && ran.stdout.contains("V/Near"), "{ran:?}");
    assert_eq!(listed_ids(&place, "Near W/far"), ["V/Near", "W/far"]);
    place.run("Naer").exits(2).says("there is no set or matrix 'Naer'; did you mean Near? `spmv");
    assert_eq!(place.server.requests(), []);
    assert_eq!(listed_ids(&place, "--all --update-index"), ["X/new"]);
    let output = place.command("new").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let begin = "to: 0 of 1 matrices present, 1 to download: about 0.000 MB of archives, ";
    let free = stderr.lines().find_map(|line| line.strip_prefix(begin)?.strip_suffix(" MB free"));
    assert!(free.is_some_and(|free| free.parse::<f64>().is_ok()), "{stderr}");
    place.server.serve("/files/ssstats.csv", &[], &[status(404)]);
    let refused = format!("index cannot be downloaded: SERVER/files/ssstats.csv: 404 Not Found{HINT}\n");
    place.run("--all --list --update-index").exits(2).says(&refused);
    assert_eq!(listed_ids(&place, "--all"), ["X/new"]);
}

/// Each case has the answer to the request of the index, and how the message begins and ends. The unit tests have more
/// cases of what an index may contain.
#[test]
fn an_index_that_is_damaged_leaves_the_one_before() {
    let place = indexed();
    place.succeed("--update-index");
    for (text, reply, begin, end) in [
        (
            INDEX.replace("V,N", "\u{1b}[31mV,N"),
            Reply::File,
            ":4: '\\u{1b}[31mV/Near' is not of the form GROUP/NAME",
            "",
        ),
        (INDEX[..81].into(), Reply::File, ":1: 3 matrices must follow, not 1; is the file incomplete?", ""),
        (INDEX.into(), declaring(INDEX.len() + 9), ": ", "(4 attempts)"),
        (INDEX.into(), status(500), ": 500 Internal Server Error", "(4 attempts)"),
        (String::new(), Reply::Endless, ": the file has 671", "at most 67108864 are allowed"),
    ] {
        place.server.serve("/files/ssstats.csv", text.as_bytes(), &[reply]);
        let ran = place.run("--update-index").exits(2);
        let begin = format!("index cannot be downloaded: SERVER/files/ssstats.csv{begin}");
        ran.says(&begin).says(&format!("{end}{HINT}\n"));
        assert_eq!(listed_ids(&place, "--all"), ["V/far", "V/Near", "W/far"], "{begin}");
    }
    // What cannot be stored is an error too.
    place.server.serve("/files/ssstats.csv", OTHER.as_bytes(), &[Reply::File]);
    let file = place.path("my.toml").display().to_string();
    let ran = place.run_with(&[("SPMV_BENCH_CACHE", &file)], "--update-index");
    ran.exits(2)
        .says(&format!("index cannot be downloaded: cannot write to {file}/index: Not a directory"));
}

#[test]
fn unknown_names_are_refused_with_suggestions() {
    let place = indexed();
    place.succeed("--update-index");
    for (words, expected) in [
        ("X/far", "there is no matrix 'X/far'; matrices with this name: V/far, W/far\n"),
        ("v/near", "there is no matrix 'v/near'; matrices with this name: V/Near\n"),
        ("X/none", "spmv-bench: there is no matrix 'X/none'; "),
        ("X/../none", "spmv-bench: 'X/../none' is not of the form GROUP/NAME"),
        ("nosuch", "there is no set or matrix 'nosuch'; `spmv-bench fetch --list` lists the sets"),
        ("far", "several matrices are called 'far': V/far, W/far\n"),
        ("tiny", "several matrices are called 'tiny': T/tiny, U/tiny\n"),
        ("NEAR", "there is no matrix 'NEAR'; matrices with this name: V/Near\n"),
        ("csrk64", "there is no set or matrix 'csrk64'; did you mean csrk-64? `spmv-bench"),
        ("--verify csrk64", "there is no set or matrix 'csrk64'; did you mean csrk-64? `spmv-bench"),
        ("--filter nzn<1", "but found 'nzn<1' (did you mean nnz?)"),
        ("--mirror ftp://x", "ftp is not supported, only http and https"),
    ] {
        place.run(words).exits(2).says(expected);
    }
}
