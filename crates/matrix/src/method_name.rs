//! The name of a method with the parameters that the user gave, such as `csr5:sigma=8`.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodName<'a> {
    pub method: &'a str,
    /// The names and values of the parameters, in the order in which they were given.
    pub parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> MethodName<'a> {
    /// Parses a name. A parameter without `=` has an empty value.
    pub fn parse(text: &'a str) -> Self {
        let mut parts = text.split(':');
        let method = parts.next().unwrap_or_default();
        let parameters = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        Self { method, parameters: parameters.collect() }
    }

    /// Parses the name at the beginning of the name of a series, which ends before a space.
    pub fn of_series(series: &'a str) -> Self {
        Self::parse(series.split(' ').next().unwrap_or_default())
    }

    /// Returns the value of a parameter, or `None` if it was not given.
    pub fn value(&self, parameter: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(name, _)| *name == parameter).map(|(_, value)| *value)
    }

    pub fn without(mut self, parameters: &[&str]) -> Self {
        self.parameters.retain(|(name, _)| !parameters.contains(name));
        self
    }
}

/// Writes what [`MethodName::parse`] reads.
impl fmt::Display for MethodName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.method)?;
        for (name, value) in &self.parameters {
            write!(f, ":{name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_it_was_read() {
        let text = "csr3:srs=tuned:order=natural:ssrs=8";
        let name = MethodName::parse(text);
        assert_eq!((name.method, name.value("ssrs"), name.value("rs")), ("csr3", Some("8"), None));
        assert_eq!(name.to_string(), text);
        assert_eq!(name.without(&["srs", "ssrs"]).to_string(), "csr3:order=natural");
        let series = MethodName::of_series("merge:x=1 f32:y");
        assert_eq!((series.method, series.parameters), ("merge", vec![("x", "1")]));
        assert_eq!(MethodName::parse("csr5:sigma").parameters, [("sigma", "")]);
    }
}
