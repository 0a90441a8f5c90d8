//! Tests the selection of matrices: sets, the index, filters.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use expect_test::expect;

use crate::answers::HINT;
use crate::both;
use crate::place::Place;
use crate::server::{Reply, Server};

const INDEX: &str = "3\n08-Oct-2020 17:09:58\n\
    V,far,5,5,7,1,0,0,0,0.5,0.25,circuit simulation problem,7\n\
    V,Near,6,5,9,1,0,0,0,0,0,least squares problem,9\n\
    W,far,7,7,11,0,0,0,0,1,0,electromagnetics problem,11\n";

/// Creates a test folder whose server has the index.
fn indexed() -> Place {
    let place = both();
    place.server.serve("/files/ssstats.csv", INDEX.as_bytes(), &[Reply::File]);
    place
}

#[test]
fn a_list_shows_sets_and_matrices_without_requests() {
    let place = both();
    place.run(&["T/tiny"]);
    place.server.requests();
    let ran = place.run(&["--list"]);
    assert_eq!((ran.status, place.server.requests()), (Some(0), Vec::new()));
    let (sets, matrices) = ran.stdout.split_once("\n\n").unwrap();
    assert!(sets.starts_with("set"), "{sets}");
    let default = sets.lines().find(|line| line.starts_with("default ")).unwrap();
    assert!(default.ends_with("         2  these tests"), "{default}");
    expect![[r#"
        matrix         rows         cols            nnz  archive MB  present  kind
        T/tiny            3            4              3      ~0.000  yes      tiny problem
        U/tiny            2            2              3      ~0.000  no       tiny problem
        1 present, 1 to download: ~0.000 MB of archives
    "#]]
    .assert_eq(matrices);
    assert_eq!(place.run(&["default", "--list"]).stdout, matrices);
    let filtered = place.run(&["default", "--list", "--filter", "rows < 3"]).stdout;
    assert!(filtered.contains("U/tiny") && !filtered.contains("T/tiny"), "{filtered}");
    assert_eq!(place.server.requests(), []);
}

#[test]
fn a_list_creates_no_folder() {
    let place = both();
    assert_eq!(place.run(&["--list"]).status, Some(0));
    assert_eq!(place.files(), ["my.toml"]);
}

fn listed(place: &Place, words: &[&str]) -> Vec<String> {
    let ran = place.run(&[words, &["--list"]].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let rows = ran.stdout.lines().skip(1).filter_map(|line| line.split(' ').next());
    rows.filter(|id| id.contains('/')).map(str::to_owned).collect()
}

#[test]
fn the_index_is_requested_once() {
    let place = indexed();
    assert_eq!(listed(&place, &["--all"]), ["V/far", "V/Near", "W/far"]);
    assert_eq!(place.server.paths(), ["/files/ssstats.csv"]);
    assert_eq!(listed(&place, &["--filter", "square && real"]), ["V/far"]);
    assert_eq!(listed(&place, &["W/far", "T/tiny", "W/far"]), ["W/far", "T/tiny"]);
    assert_eq!(place.server.requests(), []);
}

#[test]
fn every_mirror_has_its_own_index() {
    let place = indexed();
    listed(&place, &["--all"]);
    let other = Server::start();
    let index = "1\n\nX,new,5,5,7,1,0,0,0,0.5,0.25,kind,7\n";
    other.serve("/files/ssstats.csv", index.as_bytes(), &[Reply::File]);
    let first = place.server.address();
    let place = place.asking(other.address());
    assert_eq!(listed(&place, &["--all"]), ["X/new"]);
    assert_eq!(listed(&place.asking(first), &["--all"]), ["V/far", "V/Near", "W/far"]);
}

#[test]
fn an_old_index_is_used_if_there_is_no_new_one() {
    let place = indexed();
    listed(&place, &["--all"]);
    let entry = fs::read_dir(place.path("cache/index")).unwrap().next().unwrap().unwrap().path();
    let old = SystemTime::now() - Duration::from_secs(31 * 24 * 3600);
    File::options().append(true).open(entry).unwrap().set_modified(old).unwrap();
    place.server.serve("/files/ssstats.csv", &[], &[Reply::Status(404)]);
    let ran = place.run(&["--all", "--list"]);
    let note = format!(
        "the stored index is 31 days old and cannot be updated: SERVER/files/ssstats.csv: 404 Not Found{HINT}\n"
    );
    assert_eq!((ran.status, ran.stderr), (Some(0), note));
    assert!(ran.stdout.contains("V/Near"));
    let newer = "1\n\nX,new,5,5,7,1,0,0,0,0.5,0.25,kind,7\n";
    place.server.serve("/files/ssstats.csv", newer.as_bytes(), &[Reply::File]);
    assert_eq!(listed(&place, &["--all"]), ["X/new"]);
}

#[test]
fn unknown_names_are_refused_with_suggestions() {
    let place = indexed();
    for (words, expected) in [
        (
            &["X/far"][..],
            "the collection has no matrix 'X/far'; matrices with this name: V/far, W/far",
        ),
        (&["v/near"], "the collection has no matrix 'v/near'; matrices with this name: V/Near"),
        (&["X/none"], "the collection has no matrix 'X/none'"),
        (&["X/../none"], "'X/../none' is not of the form GROUP/NAME"),
        (&["nosuch"], "there is no set 'nosuch'; `spmv-bench fetch --list` lists the sets"),
        (&["--verify", "csrk64"], "there is no set 'csrk64'; did you mean csrk-64? `spmv-bench"),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        let expected = format!("spmv-bench: {expected}");
        assert!(ran.stderr.starts_with(&expected), "{ran:?}");
    }
    let ran = place.run(&["--filter", "nzn < 1"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("but found 'nzn' (did you mean nnz?)"), "{ran:?}");
    let ran = place.run(&["--mirror", "ftp://x"]);
    assert!(ran.stderr.contains("ftp is not supported, only http and https"), "{ran:?}");
}

#[test]
fn an_invalid_index_is_refused() {
    let place = both();
    place.server.serve("/files/ssstats.csv", b"many", &[Reply::File]);
    let ran = place.run(&["--all", "--list"]);
    assert_eq!(ran.status, Some(2));
    let expected = "spmv-bench: the collection's index cannot be downloaded: SERVER/files/ssstats.csv:1: \
                    this line must be the number of matrices, not 'many'\n";
    assert_eq!(ran.stderr, expected);
}
