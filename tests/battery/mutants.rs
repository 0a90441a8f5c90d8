//! Faults that rules make from the tokens of a kernel.

use std::ops::Range;

use expect_test::expect;
use xxhash_rust::xxh3::xxh3_64;

use super::tokens::{Token, tokens};

/// A change of a file of `cuda/`.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub file: &'static str,
    pub rule: &'static str,
    /// What is replaced.
    range: Range<usize>,
    to: String,
    /// The tokens around it, for people and to choose mutants by: another format has the same ones.
    pub place: String,
}

/// Atomic functions that are not atomic.
const WEAK: &str = "\
template <class T, class V> __device__ T weak_atomicAdd(T *at, V v) { T old = *at; *at = old + v; return old; }
template <class T, class V> __device__ T weak_atomicOr(T *at, V v) { T old = *at; *at = old | v; return old; }
template <class T, class V> __device__ T weak_atomicXor(T *at, V v) { T old = *at; *at = old ^ v; return old; }
template <class T, class V> __device__ T weak_atomicMin(T *at, V v) { T old = *at; if (v < old) *at = v; return old; }
template <class T, class V> __device__ T weak_atomicExch(T *at, V v) { T old = *at; *at = v; return old; }
template <class T, class C, class V> __device__ T weak_atomicCAS(T *at, C c, V v) {
    T old = *at;
    if (old == c) *at = v;
    return old;
}
";

/// Rules, signs, and what takes their place. With `+ 0 *` and the like, an operand no longer counts.
const SIGNS: &[(&str, &str, &str)] = &[
    ("bound", "<", "<="),
    ("bound", "<=", "<"),
    ("bound", ">", ">="),
    ("bound", ">=", ">"),
    ("condition", "==", "!="),
    ("condition", "!=", "=="),
    ("condition", "&&", "&& true || false &&"),
    ("condition", "&&", "&& false ||"),
    ("condition", "||", "|| false &&"),
    ("condition", "||", "&& false ||"),
    ("condition", "?", "|| true ?"),
    ("condition", "?", "&& false ?"),
    ("operand", "+", "+ 0 *"),
    ("operand", "+", "* 0 +"),
    ("operand", "-", "+ 0 *"),
    ("operand", "*", "+ 0 *"),
    ("operand", "/", "+ 0 *"),
    ("operand", "%", "+ 0 *"),
    ("operand", "&", "| 0 &"),
    ("operand", "|", "| 0 &"),
    ("operand", "+=", "="),
    ("operand", "|=", "="),
    ("operand", "&=", "="),
    ("operator", "+", "-"),
    ("operator", "-", "+"),
    ("operator", "*", "+"),
    ("operator", "/", "*"),
    ("operator", "%", "/"),
    ("operator", "&", "|"),
    ("operator", "|", "&"),
    ("operator", "^", "|"),
    ("operator", "<<", ">>"),
    ("operator", ">>", "<<"),
];

impl Mutant {
    /// Returns the text of the file with the change.
    pub fn apply(&self, text: &str) -> String {
        let (before, after) = (&text[..self.range.start], &text[self.range.end..]);
        let weak = if self.rule == "atomic" { WEAK } else { "" };
        format!("{weak}{before}{}{after}", self.to)
    }
}

/// Mutants that no product shows: a rule, a part of the tokens around the change, and why.
const EQUIVALENT: &[(&str, &str, &str)] = &[
    ("constant", "value == 0 ? value_t ( 0 )", "the other factor is 0"),
    ("constant", "first ? factor : value_t ( 0 )", "the other factor is 0"),
    ("constant", "( y ) , alpha , 1 }", "sums of rows that blocks share are added to y, without beta"),
    ("constant", "bits * 0x9e3779b97f4a7c15ull", "any hash is right"),
    ("operator", "bits * 0x9e3779b97f4a7c15ull", "any hash is right"),
    ("operator", "unsigned part = thread ( ) / WARP", "the number of blocks is an estimate"),
    ("operator", "( LISTED | PART | NO_OFFSETS )", "no slice of these matrices has such a head"),
    ("operator", "unsigned mine = first + tile . half", "the halves may take turns in any order"),
    ("operand", "k += WARP ) is_equal", "no slice of these matrices has more than 32 words"),
    ("condition", "( start >= end ) { if ( share . row", "a mark too many only takes the longer way"),
    ("condition", "( thread ( ) > last || table", "the table has whole blocks of threads"),
    ("condition", "if ( count > few ) atomicAdd", "the sum decides whether the cache is used at all"),
    ("condition", "if ( first > 0 ) mine", "no slice of these matrices has more than 32 steps"),
    ("condition", "most = is_band ? least", "offsets of more bits than needed are right too"),
    ("bound", "threadIdx . x >= WARP ) return 0", "by default a block takes a long row"),
    ("bound", "k < width ; k += AHEAD", "what is beyond the width is left out below"),
];

/// Returns some mutants of a file that change its products. They stay the same if the file is formatted or changed
/// elsewhere.
pub fn some_mutants(file: &'static str, text: &str, count: usize) -> Vec<Mutant> {
    let is_equivalent = |mutant: &Mutant| {
        let mut known = EQUIVALENT.iter().filter(|(rule, ..)| *rule == mutant.rule);
        known.any(|(_, part, _)| mutant.place.contains(part))
    };
    let mut mutants = mutants(file, text);
    mutants.sort_by_key(|mutant| xxh3_64(format!("{} {}", mutant.rule, mutant.place).as_bytes()));
    mutants.truncate(count);
    mutants.retain(|mutant| !is_equivalent(mutant));
    mutants
}

/// Returns all mutants of a file.
fn mutants(file: &'static str, text: &str) -> Vec<Mutant> {
    let tokens = tokens(text);
    let mut mutants = Vec::new();
    for at in 1..tokens.len().saturating_sub(1) {
        for (rule, last, to) in changes(text, &tokens, at) {
            let around = &tokens[at.saturating_sub(6)..(last + 7).min(tokens.len())];
            let words: Vec<_> = around.iter().map(|token| token.text).collect();
            let range = tokens[at].start..tokens[last].end();
            mutants.push(Mutant { file, rule, range, to, place: words.join(" ") });
        }
    }
    mutants
}

/// Returns the rules that apply to a token, the last token that each replaces, and what takes their place.
fn changes(text: &str, tokens: &[Token], at: usize) -> Vec<(&'static str, usize, String)> {
    let (token, next) = (tokens[at], tokens[at + 1].text);
    let mut changes = Vec::new();
    let mut change = |rule, last, to: &str| changes.push((rule, last, to.to_owned()));
    if token.is_quoted || is_of_compilation(&tokens[..=at]) {
        return changes;
    }
    match token.text {
        "__syncthreads" | "__syncwarp" | "__threadfence" if next == "(" => {
            change("barrier", close(tokens, at + 1), "0");
        }
        "if" if next == "(" => {
            let last = close(tokens, at + 1);
            if !is_constant(&tokens[at + 2..last]) {
                change("condition", last, "if (true)");
                change("condition", last, "if (false)");
            }
        }
        "min" if next == "(" => change("bound", at, "max"),
        "max" if next == "(" => change("bound", at, "min"),
        "ALL_LANES" if tokens[at - 1].text != "=" => change("lanes", at, "0xffffu"),
        word if word.starts_with("atomic") && next == "(" => {
            change("atomic", at, &format!("weak_{word}"));
        }
        number if is_number(number) && next != "]" => {
            change("constant", at, &format!("({number} + 1)"));
        }
        _ if assigned(tokens, at).is_some() => {
            assigned(tokens, at).into_iter().for_each(|end| change("assignment", end, ";"));
        }
        sign if is_between_spaces(text, token) => {
            let known = SIGNS.iter().filter(|(_, from, _)| *from == sign);
            known.for_each(|(rule, _, to)| change(rule, at, to));
        }
        _ => (),
    }
    changes
}

/// Returns the end of an assignment that begins with a token, and declares nothing.
fn assigned(tokens: &[Token], at: usize) -> Option<usize> {
    let begins = [";", "{", "}", ")", "else"].contains(&tokens[at - 1].text);
    if !begins || !tokens[at].is_word() || tokens[at + 1].is_word() {
        return None;
    }
    let rest = &tokens[at..];
    let end = rest.iter().position(|token| [";", "{", ")", "("].contains(&token.text))?;
    let is_assigned = rest[..end].iter().any(|token| is_assignment(token.text));
    let end = rest.iter().position(|token| token.text == ";")?;
    let is_whole = rest[..end].iter().all(|token| !["{", "}"].contains(&token.text));
    (is_assigned && is_whole).then_some(at + end)
}

fn is_assignment(sign: &str) -> bool {
    sign.ends_with('=') && !["==", "!=", "<=", ">="].contains(&sign)
}

fn is_number(text: &str) -> bool {
    text.trim_end_matches(['u', 'l']).parse::<u32>().is_ok()
}

/// Returns whether a sign takes two operands, and is no part of a type or a list of parameters.
fn is_between_spaces(text: &str, token: Token) -> bool {
    let is_space = |at: usize| text.as_bytes()[at].is_ascii_whitespace();
    is_space(token.start - 1) && is_space(token.end()) && !text[..token.start].ends_with("template ")
}

/// Returns whether an expression has only constants of the compilation.
fn is_constant(tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|token| token.is_word()).peekable();
    words.peek().is_some() && words.all(|word| word.text == word.text.to_uppercase())
}

/// Returns the place of the bracket that closes the one at `open`.
fn close(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return at;
        }
    }
    panic!("a bracket is not closed")
}

/// Returns whether the last token belongs to a constant or to the bounds of launches, or chooses by a constant.
fn is_of_compilation(tokens: &[Token]) -> bool {
    let ends = |token: &Token| [";", "{", "}"].contains(&token.text);
    let start = tokens.iter().rposition(ends).map_or(0, |end| end + 1);
    let statement = &tokens[start.min(tokens.len() - 1)..];
    let bounds = statement.iter().position(|token| token.text == "__launch_bounds__");
    let is_bound = bounds.is_some_and(|at| statement[at..].iter().all(|token| token.text != ")"));
    let [.., condition, last] = tokens else { return false };
    statement[0].text == "constexpr" || is_bound || last.text == "?" && is_constant(&[*condition])
}

#[test]
fn rules_change_what_is_executed() {
    let text = "constexpr int A = 1;\n__global__ void __launch_bounds__(A, 2 / A) f(int *p) {\n    \
                __syncthreads();\n    if (*p < 3) *p = A ? 4 : 5;\n}\n";
    let mutants = mutants("a.cu", text);
    let changed = mutants.iter().map(|mutant| (mutant.rule, mutant.apply(text)));
    let is_kept = |line: &str| text.contains(line);
    let lines = changed.map(|(rule, text)| {
        let line = text.lines().find(|line| !is_kept(line)).unwrap().trim().to_owned();
        format!("{rule}: {line}\n")
    });
    expect![[r#"
        barrier: 0;
        condition: if (true) *p = A ? 4 : 5;
        condition: if (false) *p = A ? 4 : 5;
        bound: if (*p <= 3) *p = A ? 4 : 5;
        constant: if (*p < (3 + 1)) *p = A ? 4 : 5;
        constant: if (*p < 3) *p = A ? (4 + 1) : 5;
        constant: if (*p < 3) *p = A ? 4 : (5 + 1);
    "#]]
    .assert_eq(&lines.collect::<String>());
}
