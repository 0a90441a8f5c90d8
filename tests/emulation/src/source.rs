//! Kernels' source made into C++ that knows where shared memory lies. Lines keep their numbers.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// `int a;`, `float b[N][2];`: type, name, brackets.
static ARRAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b__shared__\s+(?:ALIGNED\s+)?([^;(){}\[\]=]+?)\s*\b(\w+)\s*((?:\[[^\];]*\]\s*)*);")
});

/// `extern __shared__ int a[];`: type, name.
static DYNAMIC: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\bextern\s+__shared__\s+(?:ALIGNED\s+)?([^;(){}\[\]=]+?)\s*\b(\w+)\s*\[\s*\]\s*;")
});

static COMMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)//[^\n]*|/\*.*?\*/"));

/// A kernel's declaration: its bounds, on either side of `void`, and its name.
static KERNEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b__global__\s+(?:BOUNDS\s+)?void\s+(?:BOUNDS\s+)?(?<name>\w+)\s*\(")
});

fn pattern(text: &str) -> Regex {
    let text = text
        .replace("ALIGNED", r"(?:__align__|alignas)\s*\(\s*\w+\s*\)")
        .replace("BOUNDS", r"__launch_bounds__\s*\(([^{;]*?)\)");
    Regex::new(&text).expect("a sound pattern")
}

/// The text without comments and with every shared array as a reference to what the runtime hands
/// out: in `({ })`, which only compiles in a function. `first` numbers its arrays; they must not be those of another file of the program. What is
/// not understood stays, and does not compile.
pub fn rewrite(text: &str, first: usize) -> String {
    let bare = COMMENT.replace_all(text, |found: &Captures| format!(" {}", lines(&found[0])));
    let dynamic = DYNAMIC.replace_all(&bare, |found: &Captures| {
        let (kind, name, lines) = (&found[1], &found[2], lines(&found[0]));
        format!("{kind} *{name} = static_cast<{kind} *>(({{ emu::dynamic(); }}));{lines}")
    });
    let mut key = first;
    let arrays = ARRAY.replace_all(&dynamic, |found: &Captures| {
        key += 1;
        let (kind, name, shape, lines) = (&found[1], &found[2], &found[3], lines(&found[0]));
        let place = format!("({{ emu::shared({key}, sizeof({kind}{shape}), \"{name}\"); }})");
        format!("{kind} (&{name}){shape} = *static_cast<{kind} (*){shape}>({place});{lines}")
    });
    with_entries(&arrays)
}

/// As many ends of lines as the replaced text has.
fn lines(text: &str) -> String {
    "\n".repeat(text.matches('\n').count())
}

/// Puts behind every kernel, and so under the same conditions of the preprocessor, what makes it
/// known outside.
fn with_entries(text: &str) -> String {
    let (mut result, mut done) = (String::new(), 0);
    for found in KERNEL.captures_iter(text) {
        if let Some(end) = end_of_body(text, found.get_match().end()) {
            let bounds = found.get(1).or(found.get(2)).map_or("", |bounds| bounds.as_str());
            let bounds = bounds.replace('\n', " ");
            result += &text[done..end];
            result += &format!(" EMU_KERNEL({}, {bounds})", &found["name"]);
            done = end;
        }
    }
    result + &text[done..]
}

/// Where the function ends whose parameters begin at `start`; `None` for a mere declaration.
fn end_of_body(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b';' if depth == 0 => return None,
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at + 1),
            b'}' => depth -= 1,
            _ => (),
        }
    }
    None
}
