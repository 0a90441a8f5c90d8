use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::super::{Opened, ReadError, decompressed};
use super::{Options, TEXT, file, gzip, message};
use crate::memory::ReadBounds;

fn open<'c>(path: &Path, bounds: ReadBounds<'c>) -> Result<Opened<'c>, ReadError> {
    Opened::open(path, &Options::default(), bounds)
}

/// Creates a pipe in `folder`, to which a thread writes `text`.
fn pipe(folder: &Path, text: Vec<u8>) -> std::path::PathBuf {
    let path = folder.join("pipe");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let to = path.clone();
    std::thread::spawn(move || {
        // The text is written in pieces with pauses. The reader may close the pipe before the end.
        let mut pipe = OpenOptions::new().write(true).open(to).unwrap();
        for piece in text.chunks(text.len() / 3 + 1) {
            std::thread::sleep(Duration::from_millis(20));
            let _ = pipe.write_all(piece);
        }
    });
    path
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    for text in [TEXT.as_bytes().to_vec(), gzip(TEXT.as_bytes())] {
        let folder = tempfile::tempdir().unwrap();
        let opened = open(&pipe(folder.path(), text), ReadBounds::NONE).unwrap();
        assert!(opened.is_stream());
        assert_eq!(opened.size_hint().unwrap().unwrap().nnz, 2);
        assert_eq!(opened.read().unwrap().csr.values, [1.5, -2.0]);
    }
}

#[test]
fn a_stream_that_is_not_a_matrix_is_not_read_to_its_end() {
    let zero = Path::new("/dev/zero");
    let error = open(zero, ReadBounds::NONE).unwrap().read().unwrap_err();
    assert_eq!(message(&error, zero), "zero:1: the line has more than 65536 bytes");
    let random = Path::new("/dev/urandom");
    let error = open(random, ReadBounds::NONE).unwrap().read().unwrap_err();
    // Lines ahead of it that happen to be blank are skipped.
    assert!(message(&error, random).contains(": the first line must be like "), "{error}");
}

#[test]
fn the_memory_for_a_stream_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = pipe(folder.path(), format!("{TEXT}{}", "%\n".repeat(1 << 20)).into_bytes());
    let never = AtomicBool::new(false);
    let error = open(&path, ReadBounds::new(&never, 1 << 20, "a test")).err().unwrap();
    let expected = "bytes of memory, but only 1048576 are available (a test)";
    assert!(error.to_string().ends_with(expected) && error.is_unsupported(), "{error}");
}

#[test]
fn unsupported_file_types_are_refused_before_they_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    let error = open(&socket, ReadBounds::NONE).err().unwrap();
    assert_eq!(message(&error, &socket), "socket: is a socket, not a file or a pipe");
    let error = open(folder.path(), ReadBounds::NONE).err().unwrap();
    assert!(error.to_string().ends_with(": is a directory"), "{error}");
}

#[test]
fn waiting_for_a_pipe_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    mkfifo(&path, Mode::S_IRWXU).unwrap();
    let interrupted = AtomicBool::new(false);
    let bounds = ReadBounds::new(&interrupted, u64::MAX, "");
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| open(&path, bounds).err().unwrap());
        std::thread::sleep(Duration::from_millis(30));
        assert!(!reader.is_finished());
        interrupted.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap().is_interrupted());
    });
}

/// Reading is interrupted in the header, in the entries and in an archive, plain and compressed.
#[test]
fn reading_can_be_interrupted() {
    for (name, text) in [
        ("a.mtx", TEXT.as_bytes().to_vec()),
        ("a.mtx.gz", gzip(TEXT.as_bytes())),
        ("a.tar.gz", gzip(&[0; 5000])),
    ] {
        let (_folder, path) = file(name, &text);
        let interrupted = AtomicBool::new(false);
        let bounds = ReadBounds::new(&interrupted, u64::MAX, "");
        let opened = open(&path, bounds);
        interrupted.store(true, Ordering::Relaxed);
        assert!(open(&path, bounds).err().unwrap().is_interrupted(), "{name}");
        if let Ok(opened) = opened {
            assert!(opened.size_hint().unwrap_err().is_interrupted(), "{name}");
            assert!(opened.read().unwrap_err().is_interrupted(), "{name}");
        }
    }
}

#[test]
fn a_file_that_becomes_shorter_is_an_error() {
    let text = format!("{TEXT}{}", "%\n".repeat(100_000)).into_bytes();
    for text in [gzip(&text), text] {
        for left in [0, 1, text.len() / 2, text.len() - 1] {
            let (_folder, path) = file("a.mtx", &text);
            let opened = open(&path, ReadBounds::NONE).unwrap();
            OpenOptions::new().write(true).open(&path).unwrap().set_len(left as u64).unwrap();
            let error = opened.read().unwrap_err();
            assert_eq!(message(&error, &path), "a.mtx: the file became shorter while it was read");
        }
    }
}

#[test]
fn other_contents_are_decompressed_up_to_a_limit() {
    let text = b"file,run_id\n".repeat(100);
    let compressed = gzip(&text);
    for contents in [&text, &compressed, &zstd::encode_all(&text[..], 0).unwrap()] {
        assert_eq!(decompressed(contents.clone(), 1200).unwrap(), text);
    }
    let error = |contents: &[u8], most| decompressed(contents.into(), most).unwrap_err().to_string();
    assert_eq!(error(&compressed, 1199), "it is more than 1.2 KiB when it is decompressed");
    assert_eq!(error(&compressed[..20], 1200), "the gzip data end too early");
    let twice = "it is compressed twice, as gzip data in gzip data: decompress it once";
    assert_eq!(error(&gzip(&compressed), 1200), twice);
}
