//! Random files in all that the three readers have in common.

use std::collections::HashMap;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

pub fn file(number: u64) -> String {
    let random = Xoshiro256PlusPlus::seed_from_u64(number);
    let kinds: Vec<_> = KINDS.split(", ").map(|kind| kind.split(' ').collect::<Vec<_>>()).collect();
    let &[format, field, symmetry] = &kinds[number as usize % kinds.len()][..] else { panic!() };
    let mut file = File { random, format, field, symmetry, lines: Vec::new() };
    file.write();
    let end = if file.random.random() { "\r\n" } else { "\n" };
    // Without a line end at the end the fast reader crashes on what follows a value.
    file.lines.join(end) + end
}

/// Format, field and symmetry. Neither an unsigned nor a pattern matrix has negative images, and an array has
/// values.
const KINDS: &str = "coordinate real general, coordinate real symmetric, coordinate real skew-symmetric, coordinate \
    real hermitian, coordinate double general, coordinate integer general, coordinate integer symmetric, \
    coordinate integer skew-symmetric, coordinate integer hermitian, coordinate unsigned-integer general, \
    coordinate unsigned-integer symmetric, coordinate pattern general, coordinate pattern symmetric, \
    array real general, array real symmetric, array real skew-symmetric, array real hermitian, \
    array integer general, array integer symmetric, array integer skew-symmetric, array unsigned-integer general, \
    array unsigned-integer symmetric";

struct File {
    random: Xoshiro256PlusPlus,
    format: &'static str,
    field: &'static str,
    symmetry: &'static str,
    lines: Vec<String>,
}

impl File {
    fn write(&mut self) {
        let words = ["matrix", self.format, self.field, self.symmetry].map(|word| self.cased(word));
        self.lines.push(format!("%%MatrixMarket {}", words.join(" ")));
        let comments = ["%", "% a comment", "%%%", "%1 1 1"].map(str::to_owned);
        self.lines.extend(comments.into_iter().take(self.random.random_range(0..5)));
        let rows = self.random.random_range(2..14usize);
        let square = self.symmetry != "general";
        let cols = if square { rows } else { self.random.random_range(1..14) };
        match self.format {
            "array" => self.array(rows, cols),
            _ => self.coordinates(rows, cols),
        }
    }

    fn array(&mut self, rows: usize, cols: usize) {
        self.line(&[rows.to_string(), cols.to_string()], "");
        for col in 0..cols {
            let first = match self.symmetry {
                "general" => 0,
                "skew-symmetric" => col + 1,
                _ => col,
            };
            for _ in first..rows {
                let value = self.value();
                self.line(&[value], "");
            }
        }
    }

    fn coordinates(&mut self, rows: usize, cols: usize) {
        let mut entries = Vec::new();
        let mut in_place: HashMap<_, usize> = HashMap::new();
        for _ in 0..self.random.random_range(0..60) {
            let (row, col) = (self.random.random_range(0..rows), self.random.random_range(0..cols));
            let place = in_place.entry((row.min(col), row.max(col))).or_default();
            *place += 1;
            let fits = match self.symmetry {
                "general" => true,
                "skew-symmetric" => row != col && *place <= 2,
                _ => *place <= 2,
            };
            if fits {
                entries.push((row, col));
            }
        }
        self.line(&[rows, cols, entries.len()].map(|size| size.to_string()), "");
        for (row, col) in entries {
            let [row, col] = [row, col].map(|index| self.index(index));
            let value = self.value();
            match self.field {
                "pattern" => self.line(&[row, col], ""),
                _ => self.line(&[row, col, value], " % a comment"),
            }
        }
    }

    /// A line of words with blanks between and around them, perhaps with a comment, and perhaps blank lines.
    fn line(&mut self, words: &[String], comment: &'static str) {
        let mut one_of = |texts: &[&'static str]| *texts.choose(&mut self.random).expect("some");
        let between = one_of(&[" ", "  ", "\t", " \t "]);
        let before = one_of(&["", "", "", " \t"]);
        let after = one_of(&["", "", " ", "\t", comment]);
        let more = one_of(&["", "", "", "", "", "", "", "\n \t\n"]);
        self.lines.push(format!("{before}{}{after}{more}", words.join(between)));
    }

    fn cased(&mut self, word: &str) -> String {
        match self.random.random_range(0..6) {
            0 => word.to_uppercase(),
            1 => word[..1].to_uppercase() + &word[1..],
            _ => word.to_owned(),
        }
    }

    fn index(&mut self, index: usize) -> String {
        let zeros = self.random.random_range(0..96usize).saturating_sub(84);
        "0".repeat(zeros) + &(index + 1).to_string()
    }

    /// Without zeros where scipy loses their sign: its fast reader adds an array's elements to 0, and the image of
    /// an integer 0 is no -0.
    fn value(&mut self) -> String {
        let loses_sign = self.format == "array" || (self.field, self.symmetry) == ("integer", "skew-symmetric");
        loop {
            let text = self.number();
            if !(loses_sign && text.parse() == Ok(0.0)) {
                return text;
            }
        }
    }

    fn number(&mut self) -> String {
        let shift = self.random.random_range(0..64);
        match self.field {
            "integer" => (self.random.random::<i64>() >> shift).to_string(),
            "unsigned-integer" => (self.random.random::<u64>() >> shift).to_string(),
            // What is not finite would be refused here, as would be a sum that overflows.
            _ => {
                let text = self.decimal();
                let is_small = text.parse::<f64>().is_ok_and(|value| value.abs() < 1e300);
                if is_small { text } else { self.number() }
            }
        }
    }

    fn decimal(&mut self) -> String {
        let random = &mut self.random;
        let any = f64::from_bits(random.random());
        let digits = random.random::<u64>() >> random.random_range(0..64);
        let sign = if random.random() { "-" } else { "" };
        let exponent = random.random_range(-345..310);
        match random.random_range(0..9) {
            0 => format!("{any:e}"),
            1 => format!("{any:E}"),
            2 => format!("{any}"),
            3 => format!("{any:.17e}"),
            4 => format!("{sign}{digits}e{exponent}"),
            5 => format!("{sign}.{digits}E{exponent:+}"),
            6 => format!("{sign}{digits}.{:0>9}{digits}", digits % 1_000_000_000),
            // Halfway between two neighbours: 54 bits, the last of them 1.
            7 => format!("{sign}{}", (1u64 << 53 | digits >> 11) | 1),
            _ => format!("{sign}{}.", digits % 1000),
        }
    }
}
