//! Tables and texts in documents: Markdown and LaTeX.

use super::data::{Cell, Table};
use super::layout::Frame;
use super::terminal::shown;

const MARKDOWN: Frame = ["| ", " | ", " |"];

/// Joins the lines of a text, and escapes what Markdown would not show unchanged.
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or(' ');
        let within = before.is_alphanumeric() && after.is_alphanumeric();
        let is_mark = match letter {
            '\\' => after.is_ascii_punctuation(),
            '*' => !after.is_whitespace(),
            '_' => !after.is_whitespace() && !within,
            _ => "`<&|[]~$".contains(letter),
        };
        if is_mark {
            escaped.push('\\');
        }
        escaped.push(if letter.is_whitespace() { ' ' } else { letter });
        before = letter;
    }
    escaped
}

/// Joins the lines of a text, and writes what LaTeX would not show unchanged in commands that every engine has.
/// Brackets and stars, which would belong to the command at the end of the line before, are groups.
pub fn escape_latex(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '\\' => r"\textbackslash{}".into(),
        '~' => r"\textasciitilde{}".into(),
        '^' => r"\textasciicircum{}".into(),
        '×' => r"$\times$".into(),
        '±' => r"$\pm$".into(),
        'α' => r"$\alpha$".into(),
        'β' => r"$\beta$".into(),
        '<' | '>' => format!("${letter}$"),
        '–' => "--".into(),
        '{' | '}' | '#' | '$' | '%' | '&' | '_' => format!(r"\{letter}"),
        '[' | ']' | '*' => format!("{{{letter}}}"),
        letter if letter.is_whitespace() => " ".into(),
        letter => letter.to_string(),
    };
    shown(text).chars().map(escaped).collect()
}

/// A form in which documents hold tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    Markdown,
    /// For the package booktabs. What is said about a table are comments, because its caption is the author's.
    Latex,
}

impl Document {
    pub fn title(self, text: &str) -> String {
        match self {
            Self::Markdown => format!("## {}", escape_markdown(text)),
            Self::Latex => self.prose(text),
        }
    }

    /// Returns a text on one line.
    pub fn prose(self, text: &str) -> String {
        match self {
            Self::Markdown => escape_markdown(text),
            Self::Latex => format!("% {}", shown(text).replace(char::is_whitespace, " ")),
        }
    }

    pub fn table(self, table: &Table) -> String {
        match self {
            Self::Markdown => table.to_markdown(),
            Self::Latex => table.to_latex(),
        }
    }
}

impl Table {
    /// Formats the table as Markdown. Columns without text are aligned to the right.
    pub fn to_markdown(&self) -> String {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => Cell::Text(escape_markdown(text)),
            Cell::Best(_) => Cell::Word(format!("**{}**", cell.show())),
            other => other.clone(),
        };
        let columns = self.columns.iter().map(|heading| escape_markdown(heading)).collect();
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let escaped = Self { columns, rows };
        let layout = escaped.layout(escaped.spaces(), MARKDOWN, None);
        layout.lines(layout.markdown_rule()).join("\n")
    }

    /// Formats the table for LaTeX with the package booktabs.
    pub fn to_latex(&self) -> String {
        let columns = (0..self.columns.len()).map(|c| if self.is_numeric(c) { 'r' } else { 'l' });
        let cell = |cell: &Cell| match cell {
            Cell::Best(_) => format!(r"\textbf{{{}}}", cell.show()),
            cell => escape_latex(&cell.show()),
        };
        let line = |cells: Vec<String>| cells.join(" & ") + r" \\";
        let mut lines = vec![
            r"% Needs \usepackage{booktabs}.".into(),
            format!(r"\begin{{tabular}}{{{}}}", columns.collect::<String>()),
            r"\toprule".into(),
            line(self.columns.iter().map(|heading| escape_latex(heading)).collect()),
            r"\midrule".into(),
        ];
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(cell).collect())));
        lines.extend([r"\bottomrule", r"\end{tabular}"].map(String::from));
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_escapes_bars_and_aligns_numbers() {
        let columns = vec!["method".into(), "ms".into()];
        let numbers = [Cell::Number(1.5), Cell::Best(0.5), Cell::Word("none".into()), Cell::Empty];
        let rows = ["a|b", "c", "d", "e"].into_iter().zip(numbers);
        let rows = rows.map(|(name, number)| vec![name.into(), number]).collect();
        let table = Table { columns, rows };
        let markdown = "\
| method |        ms |
|--------|----------:|
| a\\|b   |      1.50 |
| c      | **0.500** |
| d      |      none |
| e      |           |";
        assert_eq!(table.to_markdown(), markdown);
        assert!(table.is_numeric(1) && !table.is_numeric(0));
        assert!(table.to_text(Some(40)).contains("a|b"));
        let latex = r"% Needs \usepackage{booktabs}.
\begin{tabular}{lr}
\toprule
method & ms \\
\midrule
a|b & 1.50 \\
c & \textbf{0.500} \\
d & none \\
e &  \\
\bottomrule
\end{tabular}";
        assert_eq!(table.to_latex(), latex);
        assert_eq!(escape_latex("a_1 50 % × {x}"), r"a\_1 50 \% $\times$ \{x\}");
        let escaped = r"{[}x{]}{*} \textbackslash{}u\{1b\}{[}31m";
        assert_eq!(escape_latex("[x]*\t\u{1b}[31m"), escaped);
        assert_eq!(Document::Latex.prose("a\r\n\u{1b}b\u{85}\u{202e}"), r"% a\u{d} \u{1b}b\u{85}\u{202e}");
    }
}
