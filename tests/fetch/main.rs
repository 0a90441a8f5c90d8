//! Tests of `spmv-bench fetch` as a program, with a local web server that simulates many kinds of failures.

mod answers;
mod archive;
mod archives;
mod downloads;
mod folder;
mod mirror;
mod place;
mod server;
mod sets;
mod tls;

use archive::Tar;
use expect_test::expect;
use place::{Place, SYMMETRIC, TINY};
use server::Reply;

/// Creates a test folder whose server has both matrices of the default set.
fn both() -> Place {
    let place = Place::with(&Tar::of("tiny", TINY).gzip());
    place.server.serve("/MM/U/tiny.tar.gz", &Tar::of("tiny", SYMMETRIC).gzip(), &[Reply::File]);
    place
}

#[test]
fn the_default_set_is_downloaded_once() {
    let place = both();
    let ran = place.run(&[]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    expect![[r#"
        U/tiny: tiny.mtx belongs to another matrix; this one is written to U-tiny.mtx
        to: 0 of 2 matrices present, 2 to download: about 0.000 MB
        T/tiny: to/tiny.mtx, 0.000 MB
        U/tiny: to/U-tiny.mtx, 0.000 MB
        2 downloaded, 0 present, 0 failed: 0.000 MB of archives
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(
        (place.read("to/tiny.mtx"), place.read("to/U-tiny.mtx")),
        (TINY.into(), SYMMETRIC.into())
    );
    let files = [
        "my.toml",
        "to/.spmv-bench/ledger.csv",
        "to/.spmv-bench/lock",
        "to/U-tiny.mtx",
        "to/tiny.mtx",
    ];
    assert_eq!(place.files(), files);
    assert!(place.server.requests().iter().all(|request| {
        request.agent.as_deref() == Some(concat!("spmv-bench/", env!("CARGO_PKG_VERSION")))
    }));
    let again = place.run(&[]);
    assert_eq!(again.status, Some(0));
    expect![[r#"
        to: 2 of 2 matrices present, 0 to download: about 0.000 MB
        0 downloaded, 2 present, 0 failed: 0.000 MB of archives
    "#]]
    .assert_eq(&again.stderr);
    assert_eq!(place.server.requests(), []);
    assert_eq!(place.run(&["--quiet"]).stderr, "");
}
