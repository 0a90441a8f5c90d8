//! How the kernels of a file are launched: TOML in the comment at its beginning.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::BEGIN;
use super::step::Step;

/// The parameters that every kernel has first.
const MATRIX: &str =
    "unsigned, unsigned, unsigned, const unsigned *, const unsigned *, const VALUE_T *";
/// The parameters that a kernel of the product has next.
const VECTORS: &str = "const VALUE_T *, VALUE_T *, VALUE_T, VALUE_T";
/// The same with names, for messages.
const MATRIX_NAMED: &str = "unsigned rows, unsigned cols, unsigned nnz, const unsigned *row_offsets, const unsigned \
                            *column_indices, const VALUE_T *values";
const VECTORS_NAMED: &str = "const VALUE_T *x, VALUE_T *y, VALUE_T alpha, VALUE_T beta";

/// The contents of the comment.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The name of the method; otherwise that of the file.
    pub name: Option<String>,
    /// One line: what the method does.
    #[serde(default)]
    pub summary: String,
    /// The paper, or where the code comes from.
    #[serde(default)]
    pub source: String,
    /// The arrays that the kernels need in addition to the matrix and the vectors.
    #[serde(default)]
    pub workspace: Vec<Workspace>,
    /// The kernels that run once per matrix, in this order.
    #[serde(default)]
    pub setup: Vec<Step>,
    /// The numbers that the user can choose.
    #[serde(default, rename = "parameter")]
    pub parameters: Vec<Choosable>,
    /// The kernels of the product y ← αAx + βy, in this order.
    #[serde(default)]
    pub product: Vec<Step>,
    /// The kernels of the product y ← αAᵀx + βy, in this order.
    #[serde(default)]
    pub transposed: Vec<Step>,
}

/// A number that the user can choose. Kernels see it as a macro with the name in capital letters.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Choosable {
    /// The name: a letter, then letters, digits and _.
    pub name: String,
    /// All allowed values.
    pub values: Vec<usize>,
    /// The value that is used if the user gives none.
    pub default: usize,
    /// One line: what it does.
    #[serde(default)]
    pub meaning: String,
}

/// An array of the method, whose number of elements depends on the matrix.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// The type of an element.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The number of elements for each row.
    #[serde(default)]
    pub per_row: usize,
    /// The number of elements for each column.
    #[serde(default)]
    pub per_column: usize,
    /// The number of elements for each nonzero.
    #[serde(default)]
    pub per_nonzero: usize,
    /// The number of further elements.
    #[serde(default)]
    pub extra: usize,
}

/// The type of the elements of a workspace.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Kind {
    /// The type of the matrix' values.
    #[serde(rename = "value_t")]
    Value,
    /// 32-bit integers.
    #[serde(rename = "unsigned")]
    Unsigned,
    /// 64-bit integers.
    #[serde(rename = "unsigned long long")]
    Long,
    /// Bytes.
    #[serde(rename = "unsigned char")]
    Byte,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{}: {what}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct DefinitionError {
    /// The file.
    pub file: PathBuf,
    /// The line, if it is known.
    pub line: Option<usize>,
    /// What is wrong, and how to mend it.
    pub what: String,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Value => "VALUE_T",
            Self::Unsigned => "unsigned",
            Self::Long => "unsigned long long",
            Self::Byte => "unsigned char",
        }
    }
}

impl Workspace {
    /// Returns the number of elements.
    pub fn elements(&self, rows: usize, cols: usize, nnz: usize) -> usize {
        let all = [(self.per_row, rows), (self.per_column, cols), (self.per_nonzero, nnz)];
        all.iter()
            .fold(self.extra, |sum, (each, count)| sum.saturating_add(each.saturating_mul(*count)))
    }

    /// Returns the size of an element in bytes, where a value has `value` bytes.
    pub fn element_bytes(&self, value: usize) -> usize {
        match self.kind {
            Kind::Value => value,
            Kind::Unsigned => 4,
            Kind::Long => 8,
            Kind::Byte => 1,
        }
    }
}

impl Choosable {
    /// Checks the parameter.
    fn check(&self) -> Result<(), String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &self.name;
        match () {
            () if !name.starts_with(|c: char| c.is_ascii_alphabetic())
                || !name.chars().all(is_word) =>
            {
                Err(format!(
                    "the name '{name}' of a parameter must be a letter, then letters, digits and _"
                ))
            }
            () if ["graph", "threads", "value_t"].contains(&&*name.to_lowercase()) => {
                Err(format!("a parameter cannot be called '{name}', which has a meaning already"))
            }
            () if !self.values.contains(&self.default) => {
                Err(format!("the default of the parameter {name} is not one of its values"))
            }
            () => Ok(()),
        }
    }
}

impl Definition {
    /// Reads the definition of a file with this text.
    ///
    /// # Errors
    /// Returns an error with the line if the definition is missing or wrong.
    pub fn of(file: &Path, text: &str) -> Result<Self, DefinitionError> {
        let failed = |line, what| DefinitionError { file: file.into(), line, what };
        if text.lines().next().map(str::trim_end) != Some(BEGIN) {
            let what = format!(
                "the first line must be `{BEGIN}`; the lines after it, each after `// `, say how the kernels are \
                 launched: see docs/plugins.md"
            );
            return Err(failed(Some(1), what));
        }
        let comment = text.lines().skip(1).map_while(|line| line.strip_prefix("//"));
        // The first line is kept empty, so that the lines of messages are those of the file.
        let toml: String = comment.fold("\n".into(), |toml, line| toml + line + "\n");
        let definition: Self = toml::from_str(&toml).map_err(|error| {
            let before = error.span().map(|span| &toml[..span.start.min(toml.len())]);
            failed(before.map(|text| 1 + text.matches('\n').count()), error.message().to_owned())
        })?;
        definition.check().map_err(|what| failed(None, what))?;
        Ok(definition)
    }

    fn check(&self) -> Result<(), String> {
        let Self { setup, product, transposed, parameters, .. } = self;
        if product.is_empty() && transposed.is_empty() {
            return Err(
                "there is no kernel of the product: add [[product]] or [[transposed]]".into()
            );
        }
        for (place, parameter) in parameters.iter().enumerate() {
            parameter.check()?;
            let is_same = |other: &Choosable| other.name.eq_ignore_ascii_case(&parameter.name);
            if parameters[..place].iter().any(is_same) {
                return Err(format!("there are two parameters '{}'", parameter.name));
            }
        }
        // Each value together with the defaults of the other parameters.
        let values =
            parameters.iter().flat_map(|it| it.values.iter().map(move |value| (&it.name, *value)));
        let choices = values.map(|(name, value)| self.chosen(|it| (it == name).then_some(value)));
        for chosen in std::iter::once(self.chosen(|_| None)).chain(choices) {
            for step in [setup, product, transposed].into_iter().flatten() {
                step.grid(&chosen)?;
            }
        }
        Ok(())
    }

    /// Returns each parameter with the value that the user gave, or its default.
    pub fn chosen(&self, given: impl Fn(&str) -> Option<usize>) -> Vec<(&str, usize)> {
        let parameters = self.parameters.iter();
        parameters.map(|it| (&*it.name, given(&it.name).unwrap_or(it.default))).collect()
    }

    /// Returns text for the end of the program, which does not compile if a kernel has other parameters.
    pub fn checks(&self) -> String {
        let workspace: String =
            self.workspace.iter().map(|array| format!(", {} *", array.kind.name())).collect();
        let named = (0..).zip(&self.workspace);
        let named: String = named
            .map(|(number, array)| format!(", {} *workspace{number}", array.kind.name()))
            .collect();
        let check = |step: &Step, vectors: [&str; 2]| {
            let [types, names] = vectors.map(|text| match text {
                "" => String::new(),
                _ => format!(", {text}"),
            });
            let kernel = &step.kernel;
            format!(
                "static_assert(SpmvSame<decltype({kernel}), void({MATRIX}{types}{workspace})>::value, \"{kernel} must \
                 have the parameters ({MATRIX_NAMED}{names}{named})\");\n"
            )
        };
        let setup = self.setup.iter().map(|step| check(step, ["", ""]));
        let products = self.product.iter().chain(&self.transposed);
        let product = products.map(|step| check(step, [VECTORS, VECTORS_NAMED]));
        let checks: String = setup.chain(product).collect();
        format!(
            "\ntemplate <class A, class B> struct SpmvSame {{ static constexpr bool value = false; }};\ntemplate <class \
             A> struct SpmvSame<A, A> {{ static constexpr bool value = true; }};\n{checks}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::step::Blocks;
    use super::*;

    const LAUNCH: &str =
        "// [[product]]\n// kernel = \"rows\"\n// threads = 256\n// rows_per_block = 8\n";

    fn read(text: &str) -> Result<Definition, String> {
        Definition::of(Path::new("my.cu"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_definition_ends_where_the_comment_ends() {
        let text = format!("// spmv-bench\n// summary = \"a test\"\n{LAUNCH}\n// other = 1\n");
        let definition = read(&text).unwrap();
        assert_eq!((&*definition.summary, definition.product.len()), ("a test", 1));
        assert_eq!(definition.product[0].grid(&[]).unwrap().blocks, Blocks::Rows(8));
    }

    #[test]
    fn errors_have_the_line_and_the_mend() {
        for (text, message) in [
            ("int x;\n".to_owned(), "my.cu:1: the first line must be `// spmv-bench`"),
            (
                "// spmv-bench\n\n".into(),
                "my.cu: there is no kernel of the product: add [[product]] or [[transposed]]",
            ),
            ("// spmv-bench\n// sumary = \"a\"\n".into(), "my.cu:2: unknown field `sumary`"),
            (
                format!("// spmv-bench\n{LAUNCH}// blocks = 2\n"),
                "my.cu: kernel rows: set one of rows_per_block",
            ),
            (
                format!("// spmv-bench\n{}", LAUNCH.replace("256", "2048")),
                "my.cu: kernel rows: threads is",
            ),
            (
                format!("// spmv-bench\n{}", LAUNCH.replace("= 8", "= 0")),
                "my.cu: kernel rows: the number of rows",
            ),
            (
                format!("// spmv-bench\n{}", LAUNCH.replace("= 8", "= -8")),
                "my.cu:5: expected a number",
            ),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn the_launch_may_depend_on_parameters() {
        let parameter = "// spmv-bench\n// [[parameter]]\n// name = \"lanes\"\n// values = [2, 4]\n// default = 4\n";
        let step = LAUNCH.replace("= 8", "= \"threads / lanes\"");
        let definition = read(&format!("{parameter}{step}")).unwrap();
        let rows =
            |given| definition.product[0].grid(&definition.chosen(|_| given)).unwrap().blocks;
        assert_eq!((rows(None), rows(Some(2))), (Blocks::Rows(64), Blocks::Rows(128)));
        for (from, to, message) in [
            (
                "threads / lanes",
                "threads / lane",
                "kernel rows: \"threads / lane\": 'lane' is neither",
            ),
            ("= 4", "= 3", "the default of the parameter lanes is not one of its values"),
            ("\"lanes\"", "\"a b\"", "the name 'a b' of a parameter"),
            ("\"lanes\"", "\"threads\"", "a parameter cannot be called 'threads'"),
            ("\"lanes\"", "\"Value_T\"", "a parameter cannot be called 'Value_T'"),
            ("[2, 4]", "[3, 4]", "256 and 3 have no such product or quotient"),
            (
                "// [[product]]",
                "// [[parameter]]\n// name = \"LANES\"\n// values = [1]\n// default = 1\n// [[product]]",
                "there are two parameters 'LANES'",
            ),
            (
                "rows_per_block",
                "columns_per_block = 1\n// rows_per_block",
                "kernel rows: set one of",
            ),
        ] {
            let error = read(&format!("{parameter}{step}").replace(from, to)).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_workspace_has_elements_for_rows_columns_and_nonzeros() {
        let text = "// spmv-bench\n// [[workspace]]\n// type = \"value_t\"\n// per_row = 2\n// per_nonzero = 1\n// extra = 5\n";
        let definition = read(&format!("{text}{LAUNCH}")).unwrap();
        let [array] = &definition.workspace[..] else { panic!("one workspace") };
        assert_eq!((array.elements(10, 20, 30), array.element_bytes(4)), (55, 4));
        assert!(definition.checks().contains("VALUE_T *workspace0"), "{}", definition.checks());
    }
}
