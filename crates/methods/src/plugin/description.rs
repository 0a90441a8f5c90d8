//! What a plug-in says of its methods, checked.

use serde::{Deserialize, Serialize};

use super::abi::{self, Method};
use super::text;

/// The longest name of a method.
pub const LONGEST_NAME: usize = 40;
/// More parameters, or more values of one, than this are taken for a list without an end.
const MOST: usize = 1000;

/// What a plug-in says of one of its methods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The name of the method.
    pub name: String,
    /// The version of the method, if it is stated.
    pub version: Option<String>,
    /// The paper, or where the code comes from.
    pub source: String,
    /// The licence, if it is stated.
    pub license: Option<String>,
    /// One line: what the method does.
    pub summary: String,
    /// The flags of the interface.
    pub flags: u64,
    /// The parameters that the user can set.
    pub parameters: Vec<Described>,
    /// What opening the plug-in has changed in the floating-point state of the thread, before it was restored.
    pub opening_changed: Option<String>,
}

/// A parameter of a method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// The name of the parameter.
    pub name: String,
    /// All allowed values.
    pub values: Vec<String>,
    /// What it does.
    pub meaning: String,
}

impl Description {
    /// Reads and checks the structure of a method.
    ///
    /// # Errors
    /// Returns what is wrong and how to mend it.
    ///
    /// # Safety
    /// `method.abi` and `method.size` must be readable; if they are right, the other fields must be as the interface
    /// demands.
    pub(super) unsafe fn of(method: *const Method) -> Result<Self, String> {
        // SAFETY: the caller guarantees that the first two fields are readable.
        let (version, size) = unsafe { ((*method).abi, (*method).size) };
        if version != abi::ABI {
            return Err(format!(
                "it has version {version} of the interface, and this program has version {}: compile it again with \
                 the spmv_method.h of this program",
                abi::ABI
            ));
        }
        if (size as usize) < size_of::<Method>() {
            return Err(format!(
                "its structure spmv_method has {size} bytes instead of {}: set the field size to sizeof(spmv_method)",
                size_of::<Method>()
            ));
        }
        // SAFETY: the structure is complete; its texts and lists are as the interface demands.
        let description = unsafe { Self::read(&*method)? };
        description
            .check()
            .map_err(|wrong| format!("the method '{}': {wrong}", description.name))?;
        Ok(description)
    }

    /// # Safety
    /// The texts and lists must be as the interface demands.
    unsafe fn read(method: &Method) -> Result<Self, String> {
        // SAFETY: the caller guarantees it.
        unsafe {
            let name = text(method.name).ok_or("a method has no name: set the field name")?;
            let named = |wrong: &str| format!("the method '{name}': {wrong}");
            let required = |from, field: &str| {
                let found = text(from).filter(|text| !text.trim().is_empty());
                found.ok_or_else(|| named(&format!("set the field {field}")))
            };
            for (is_null, field) in
                [(method.prepare.is_none(), "prepare"), (method.multiply.is_none(), "multiply")]
            {
                if is_null {
                    return Err(named(&format!("its function {field} is NULL")));
                }
            }
            Ok(Self {
                version: text(method.version),
                source: required(method.source, "source")?,
                license: text(method.license),
                summary: required(method.summary, "summary")?,
                flags: method.flags,
                parameters: parameters(method.parameters).map_err(|wrong| named(&wrong))?,
                opening_changed: None,
                name,
            })
        }
    }

    fn check(&self) -> Result<(), String> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
        if self.name.is_empty()
            || self.name.len() > LONGEST_NAME
            || !self.name.chars().all(is_plain)
        {
            return Err(format!(
                "a name has 1 to {LONGEST_NAME} characters: small letters, digits, and - . _"
            ));
        }
        if self.flags & !abi::FLAGS != 0 {
            return Err(format!(
                "its flags {:#x} contain some that this version does not know",
                self.flags
            ));
        }
        if self.flags & (abi::F64 | abi::F32) == 0 {
            return Err("set SPMV_F64 or SPMV_F32, or both, in its flags".into());
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let names = self.parameters.iter().map(|parameter| &parameter.name);
        for (number, name) in names.clone().enumerate() {
            if name.is_empty() || !name.chars().all(is_word) {
                return Err(format!(
                    "the name of its parameter '{name}' has other characters than a-z, A-Z, 0-9, - _"
                ));
            }
            if name == "graph" || names.clone().take(number).any(|other| other == name) {
                return Err(format!("its parameter '{name}' exists already"));
            }
        }
        Ok(())
    }

    /// Returns whether one of these flags is set.
    pub fn has(&self, flags: u64) -> bool {
        self.flags & flags != 0
    }

    /// Returns the name with the version, as results show it.
    pub fn edition(&self) -> String {
        let version = self.version.as_deref().map(|version| format!(" {version}"));
        format!("{}{}", self.name, version.unwrap_or_default())
    }
}

/// # Safety
/// The list must be NULL, or end with a parameter without a name; its texts and lists must have ends.
unsafe fn parameters(list: *const abi::Parameter) -> Result<Vec<Described>, String> {
    let mut parameters = Vec::new();
    if list.is_null() {
        return Ok(parameters);
    }
    for number in 0..=MOST {
        // SAFETY: the caller guarantees that the list has not ended yet.
        let parameter = unsafe { &*list.add(number) };
        // SAFETY: as above.
        let Some(name) = (unsafe { text(parameter.name) }) else { return Ok(parameters) };
        // SAFETY: as above.
        let (values, meaning) = unsafe { (values(parameter.values), text(parameter.meaning)) };
        let values = values.filter(|values| !values.is_empty());
        let values =
            values.ok_or_else(|| format!("its parameter '{name}' has no list of values"))?;
        let unfit = |value: &&String| value.is_empty() || value.contains([':', ',', '=', '*']);
        if let Some(value) = values.iter().find(unfit) {
            return Err(format!(
                "the value '{value}' of its parameter '{name}' is empty or has one of : , = *"
            ));
        }
        parameters.push(Described { name, values, meaning: meaning.unwrap_or_default() });
    }
    Err("its list of parameters does not end: a parameter without a name ends it".into())
}

/// Returns the values, or `None` if the list is NULL or does not end.
///
/// # Safety
/// The list must be NULL, or end with NULL.
unsafe fn values(list: *const *const std::ffi::c_char) -> Option<Vec<String>> {
    if list.is_null() {
        return None;
    }
    let mut values = Vec::new();
    for number in 0..=MOST {
        // SAFETY: the caller guarantees that the list has not ended yet.
        match unsafe { text(*list.add(number)) } {
            Some(value) => values.push(value),
            None => return Some(values),
        }
    }
    None
}
