//! Tests the selection of matrices: sets, the index, filters.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use expect_test::expect;

use crate::place::{HINT, Place};
use crate::server::{Reply, Server, status};

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

#[test]
fn the_index_is_requested_once_from_every_mirror() {
    let (place, other) = (indexed(), Server::start());
    assert_eq!(listed_ids(&place, "--all"), ["V/far", "V/Near", "W/far"]);
    assert_eq!(place.server.paths(), ["/files/ssstats.csv"]);
    assert_eq!(listed_ids(&place, "--filter square&&real"), ["V/far"]);
    assert_eq!(listed_ids(&place, "W/far T/tiny W/far"), ["W/far", "T/tiny"]);
    other.serve("/files/ssstats.csv", OTHER.as_bytes(), &[Reply::File]);
    let first = place.server.address();
    let place = place.asking(other.address());
    assert_eq!(listed_ids(&place, "--all"), ["X/new"]);
    let place = place.asking(first);
    assert_eq!(listed_ids(&place, "--all"), ["V/far", "V/Near", "W/far"]);
    assert_eq!(place.server.requests(), []);
}

#[test]
fn an_old_index_is_used_if_there_is_no_new_one() {
    let place = indexed();
    place.succeed("--all --list");
    let entry = fs::read_dir(place.path("cache/index")).unwrap().next().unwrap().unwrap().path();
    let old = SystemTime::now() - Duration::from_secs(31 * 24 * 3600);
    File::options().append(true).open(entry).unwrap().set_modified(old).unwrap();
    place.server.serve("/files/ssstats.csv", &[], &[status(404)]);
    let ran = place.succeed("--all --list");
    let note = format!(
        "the stored index is 31 days old and cannot be updated: SERVER/files/ssstats.csv: 404 Not Found{HINT}\n"
    );
    assert!(ran.stderr == note && ran.stdout.contains("V/Near"), "{ran:?}");
    place.server.serve("/files/ssstats.csv", OTHER.as_bytes(), &[Reply::File]);
    assert_eq!(listed_ids(&place, "--all"), ["X/new"]);
}

#[test]
fn unknown_names_are_refused_with_suggestions() {
    let place = indexed();
    for (words, expected) in [
        ("X/far", "has no matrix 'X/far'; matrices with this name: V/far, W/far\n"),
        ("v/near", "has no matrix 'v/near'; matrices with this name: V/Near\n"),
        ("X/none", "spmv-bench: the collection has no matrix 'X/none'; "),
        ("X/../none", "spmv-bench: 'X/../none' is not of the form GROUP/NAME"),
        ("nosuch", "there is no set 'nosuch'; `spmv-bench fetch --list` lists the sets"),
        ("--verify csrk64", "there is no set 'csrk64'; did you mean csrk-64? `spmv-bench"),
        ("--filter nzn<1", "but found 'nzn<1' (did you mean nnz?)"),
        ("--mirror ftp://x", "ftp is not supported, only http and https"),
    ] {
        place.run(words).exits(2).says(expected);
    }
    let place = Place::new();
    place.server.serve("/files/ssstats.csv", b"many", &[Reply::File]);
    let ran = place.run("--all --list");
    let expected = "spmv-bench: the collection's index cannot be downloaded: SERVER/files/ssstats.csv:1: \
                    this line must be the number of matrices, not 'many'\n";
    assert_eq!(ran.exits(2).stderr, expected);
}
