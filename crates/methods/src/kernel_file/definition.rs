//! How the kernels of a file are launched: TOML in the comment at its beginning.

use std::path::Path;

use anyhow::{Result, anyhow, bail, ensure};
use serde::Deserialize;

use super::step::Step;

/// The words of the first line that begin the definition in a file.
const BEGIN: &str = "// spmv-bench";

/// The parameters that every kernel has first.
const MATRIX: &str = "unsigned rows, unsigned cols, unsigned nnz, const unsigned *row_offsets, const unsigned \
                      *column_indices, const VALUE_T *values";
/// The parameters that a kernel of the product has next.
const VECTORS: &str = ", const VALUE_T *x, VALUE_T *y, VALUE_T alpha, VALUE_T beta";

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Definition {
    /// The name of the method; otherwise that of the file.
    pub name: Option<String>,
    pub summary: String,
    /// The source of the method; otherwise the name of the file.
    pub source: String,
    /// The arrays that the kernels need in addition to the matrix and the vectors.
    pub workspace: Vec<Workspace>,
    /// The kernels that run once per matrix, in this order.
    pub setup: Vec<Step>,
    #[serde(rename = "parameter")]
    pub parameters: Vec<Choosable>,
    /// The kernels of the product y ← αAx + βy, in this order.
    pub product: Vec<Step>,
    /// The kernels of the product y ← αAᵀx + βy, in this order.
    pub transposed: Vec<Step>,
}

/// A number that the user can choose. Kernels see it as a macro with the name in capital letters.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Choosable {
    /// A letter, then letters, digits and _.
    pub name: String,
    pub values: Vec<usize>,
    pub default: usize,
    #[serde(default)]
    pub meaning: String,
}

/// An array of the method, whose number of elements depends on the matrix.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    #[serde(rename = "type")]
    element: Element,
    #[serde(default)]
    per_row: usize,
    #[serde(default)]
    per_column: usize,
    #[serde(default)]
    per_nonzero: usize,
    /// The number of further elements.
    #[serde(default)]
    extra: usize,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
enum Element {
    /// The type of the matrix' values.
    #[serde(rename = "value_t")]
    Value,
    #[serde(rename = "unsigned")]
    Unsigned,
    #[serde(rename = "unsigned long long")]
    Long,
    #[serde(rename = "unsigned char")]
    Byte,
}

impl Workspace {
    /// Returns the bytes of the array for a matrix of so many rows, columns and nonzeros, whose values have `value`
    /// bytes.
    pub fn bytes(&self, size: [usize; 3], value: usize) -> usize {
        let per = [self.per_row, self.per_column, self.per_nonzero];
        let elements = per.iter().zip(size).map(|(each, count)| each.saturating_mul(count));
        elements.fold(self.extra, usize::saturating_add).saturating_mul(self.element.of(value).1)
    }
}

impl Element {
    /// Returns the type in CUDA, and its bytes if a value has `value` bytes.
    fn of(self, value: usize) -> (&'static str, usize) {
        match self {
            Self::Value => ("VALUE_T", value),
            Self::Unsigned => ("unsigned", 4),
            Self::Long => ("unsigned long long", 8),
            Self::Byte => ("unsigned char", 1),
        }
    }
}

impl Choosable {
    fn check(&self) -> Result<()> {
        let Self { name, values, default, .. } = self;
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        ensure!(
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_word),
            "the name '{name}' of a parameter must be a letter, then letters, digits and _"
        );
        ensure!(
            !["graph", "threads", "value_t"].contains(&&*name.to_lowercase()),
            "a parameter cannot be called '{name}', which has a meaning already"
        );
        ensure!(values.contains(default), "the default of the parameter {name} is not one of its values");
        Ok(())
    }
}

impl Definition {
    /// Reads the definition of a file with this text. Errors have the line if it is known.
    pub fn of(file: &Path, text: &str) -> Result<Self> {
        let file = file.display();
        if text.lines().next().map(str::trim_end) != Some(BEGIN) {
            bail!(
                "{file}:1: the first line must be `{BEGIN}`; the lines after it, each after `// `, say how the kernels \
                 are launched: see docs/plugins.md"
            );
        }
        let comment = text.lines().skip(1).map_while(|line| line.strip_prefix("//"));
        // The first line is kept empty, so that the lines of messages are those of the file.
        let toml: String = comment.fold("\n".into(), |toml, line| toml + line + "\n");
        let definition: Self = toml::from_str(&toml).map_err(|error| {
            let before = error.span().map(|span| &toml[..span.start.min(toml.len())]);
            let line = before.map(|text| format!(":{}", 1 + text.matches('\n').count()));
            anyhow!("{file}{}: {}", line.unwrap_or_default(), error.message())
        })?;
        definition.check().map_err(|what| anyhow!("{file}: {what}"))?;
        Ok(definition)
    }

    fn check(&self) -> Result<()> {
        let Self { setup, product, transposed, parameters, .. } = self;
        ensure!(
            !product.is_empty() || !transposed.is_empty(),
            "there is no kernel of the product: add [[product]] or [[transposed]]"
        );
        for (place, parameter) in parameters.iter().enumerate() {
            parameter.check()?;
            let is_same = |other: &Choosable| other.name.eq_ignore_ascii_case(&parameter.name);
            ensure!(!parameters[..place].iter().any(is_same), "there are two parameters '{}'", parameter.name);
        }
        // Each value together with the defaults of the other parameters.
        let values = parameters.iter().flat_map(|it| it.values.iter().map(move |value| (&it.name, *value)));
        let choices = values.map(|(name, value)| self.chosen(|it| (it == name).then_some(value)));
        for chosen in std::iter::once(self.chosen(|_| None)).chain(choices) {
            for step in [setup, product, transposed].into_iter().flatten() {
                step.grid(&chosen, [0; 3])?;
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
        let arrays = self.workspace.iter().map(|array| array.element.of(0).0).enumerate();
        let workspace: String = arrays.map(|(number, element)| format!(", {element} *workspace{number}")).collect();
        let check = |step: &Step, vectors: &str| {
            let (kernel, parameters) = (&step.kernel, format!("{MATRIX}{vectors}{workspace}"));
            let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let types = parameters.split(", ").map(|it| it.trim_end_matches(is_of_name).trim_end());
            let types = types.collect::<Vec<_>>().join(", ");
            format!(
                "static_assert(SpmvSame<decltype({kernel}), void({types})>::value, \"{kernel} must have the parameters \
                 ({parameters})\");\n"
            )
        };
        let products = self.product.iter().chain(&self.transposed);
        let products = products.map(|step| check(step, VECTORS));
        let checks: String = self.setup.iter().map(|step| check(step, "")).chain(products).collect();
        format!(
            "\ntemplate <class A, class B> struct SpmvSame {{ static constexpr bool value = false; }};\ntemplate \
             <class A> struct SpmvSame<A, A> {{ static constexpr bool value = true; }};\n{checks}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAUNCH: &str = "[[product]]\nkernel = \"rows\"\nthreads = 256\nrows_per_block = 8\n";

    /// Reads a file `my.cu` whose comment has these lines.
    fn read(toml: &str) -> Result<Definition, String> {
        let comment: String = toml.lines().map(|line| format!("// {line}\n")).collect();
        let text = format!("// spmv-bench\n{comment}\n// other = 1\n");
        Definition::of(Path::new("my.cu"), &text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_definition_ends_where_the_comment_ends() {
        let definition = read(&format!("summary = \"a test\"\n{LAUNCH}")).unwrap();
        assert_eq!((&*definition.summary, definition.product.len()), ("a test", 1));
        assert_eq!(definition.product[0].grid(&[], [9, 0, 0]).unwrap().blocks, Some(2));
    }

    #[test]
    fn errors_have_the_line_and_the_mend() {
        let other = Definition::of(Path::new("my.cu"), "int x;\n").unwrap_err().to_string();
        assert!(other.starts_with("my.cu:1: the first line must be `// spmv-bench`"), "{other}");
        let with = |from: &str, to: &str| LAUNCH.replace(from, to);
        for (toml, message) in [
            (String::new(), "my.cu: there is no kernel of the product: add [[product]]"),
            ("sumary = \"a\"\n".into(), "my.cu:2: unknown field `sumary`"),
            (LAUNCH.to_owned() + "blocks = 2", "my.cu: kernel rows: set one of rows_per_block"),
            (with("256", "2048"), "my.cu: kernel rows: threads is"),
            (
                with("rows_per_block = 8", "blocks = 4294967296"),
                "my.cu: kernel rows: blocks is 4294967296; at most 2147483647",
            ),
            (
                LAUNCH.to_owned() + "shared_bytes = 4294967296",
                "my.cu: kernel rows: shared_bytes is 4294967296; at most",
            ),
            (with("= 8", "= 0"), "my.cu: kernel rows: the number of rows"),
            (with("= 8", "= -8"), "my.cu:5: expected a number"),
        ] {
            let error = read(&toml).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn the_launch_may_depend_on_parameters() {
        let parameter = "[[parameter]]\nname = \"lanes\"\nvalues = [2, 4]\ndefault = 4\n";
        let text = parameter.to_owned() + &LAUNCH.replace("= 8", "= \"threads / lanes\"");
        let definition = read(&text).unwrap();
        let blocks = |given| {
            let chosen = definition.chosen(|_| given);
            definition.product[0].grid(&chosen, [128, 0, 0]).unwrap().blocks
        };
        assert_eq!((blocks(None), blocks(Some(2))), (Some(2), Some(1)));
        let second = "[[parameter]]\nname = \"LANES\"\nvalues = [1]\ndefault = 1\n[[product]]";
        for (from, to, message) in [
            ("threads / lanes", "lane", "kernel rows: \"lane\": 'lane' is neither"),
            ("= 4", "= 3", "the default of the parameter lanes is not one of its values"),
            ("\"lanes\"", "\"a b\"", "the name 'a b' of a parameter"),
            ("\"lanes\"", "\"threads\"", "a parameter cannot be called 'threads'"),
            ("\"lanes\"", "\"Value_T\"", "a parameter cannot be called 'Value_T'"),
            ("[2, 4]", "[3, 4]", "256 and 3 have no such product or quotient"),
            ("[[product]]", second, "there are two parameters 'LANES'"),
            ("threads =", "columns_per_block = 1\nthreads =", "kernel rows: set one of"),
        ] {
            let error = read(&text.replace(from, to)).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_workspace_has_elements_for_rows_columns_and_nonzeros() {
        let text = "[[workspace]]\ntype = \"value_t\"\nper_row = 2\nper_nonzero = 1\nextra = 5\n".to_owned();
        let definition = read(&(text + LAUNCH)).unwrap();
        let [array] = &definition.workspace[..] else { panic!("one workspace") };
        assert_eq!(array.bytes([10, 20, 30], 4), 4 * 55);
        assert!(definition.checks().contains("VALUE_T *workspace0"), "{}", definition.checks());
    }
}
