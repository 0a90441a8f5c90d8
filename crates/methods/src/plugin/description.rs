//! What a plug-in says of its methods, checked.

use std::ffi::c_char;

use anyhow::{Context, Result, anyhow, ensure};
use serde::{Deserialize, Serialize};

use super::abi::{self, Method};
use super::foreign::{text, until_end};
use crate::kernel_file::has_plain_characters;

/// The longest name of a method.
pub const LONGEST_NAME: usize = 40;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    pub name: String,
    pub version: Option<String>,
    /// The paper, or where the code comes from.
    pub source: String,
    pub license: Option<String>,
    pub summary: String,
    pub flags: u64,
    pub parameters: Vec<Described>,
    /// What opening the plug-in has changed in the state of the thread, before it was restored.
    pub opening_changed: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    pub name: String,
    pub values: Vec<String>,
    pub meaning: String,
}

impl Description {
    /// Reads and checks the structure of a method. Returns what is wrong and how to mend it.
    ///
    /// # Safety
    /// `method.abi` and `method.size` must be readable; if they are correct, the other fields must be as the interface
    /// demands.
    pub(super) unsafe fn of(method: *const Method) -> Result<Self> {
        // SAFETY: the caller guarantees that the first two fields are readable.
        let (version, size) = unsafe { ((*method).abi, (*method).size) };
        ensure!(
            version == abi::ABI,
            "it has version {version} of the interface, and this program has version {}: compile it again with the \
             spmv_method.h of this program",
            abi::ABI
        );
        ensure!(
            size as usize >= size_of::<Method>(),
            "its structure spmv_method has {size} bytes instead of {}: set the field size to sizeof(spmv_method)",
            size_of::<Method>()
        );
        // SAFETY: the structure is complete, and its texts are as the interface demands.
        let (method, name) = unsafe { (&*method, text((*method).name)) };
        let name = name.context("a method has no name: set the field name")?;
        // SAFETY: the texts and lists are as the interface demands.
        let description = unsafe { Self::read(method, &name) };
        description
            .and_then(|description| description.check().map(|()| description))
            .map_err(|wrong| anyhow!("the method '{name}': {wrong}"))
    }

    /// # Safety
    /// The texts and lists must be as the interface demands.
    unsafe fn read(method: &Method, name: &str) -> Result<Self> {
        ensure!(method.prepare.is_some(), "its function prepare is NULL");
        ensure!(method.multiply.is_some(), "its function multiply is NULL");
        // SAFETY: the caller guarantees it.
        unsafe {
            let required = |from, field| {
                let found = text(from).filter(|text| !text.trim().is_empty());
                found.with_context(|| format!("set the field {field}"))
            };
            Ok(Self {
                name: name.into(),
                version: text(method.version),
                source: required(method.source, "source")?,
                license: text(method.license),
                summary: required(method.summary, "summary")?,
                flags: method.flags,
                parameters: parameters(method.parameters)?,
                opening_changed: None,
            })
        }
    }

    fn check(&self) -> Result<()> {
        ensure!(
            (1..=LONGEST_NAME).contains(&self.name.len()) && has_plain_characters(&self.name),
            "a name has 1 to {LONGEST_NAME} characters: lower-case letters, digits, and - . _"
        );
        let flags = self.flags;
        ensure!(!self.has(!abi::FLAGS), "its flags {flags:#x} contain some that this version does not know");
        let has_product = self.has(abi::F64 | abi::F32);
        ensure!(has_product, "set SPMV_F64 or SPMV_F32, or both, in its flags");
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let names = self.parameters.iter().map(|parameter| &parameter.name);
        for (number, name) in names.clone().enumerate() {
            ensure!(
                !name.is_empty() && name.chars().all(is_word),
                "the name of its parameter '{name}' has other characters than a-z, A-Z, 0-9, - _"
            );
            let exists = name == "graph" || names.clone().take(number).any(|other| other == name);
            ensure!(!exists, "its parameter '{name}' exists already");
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
        self.name.clone() + &version.unwrap_or_default()
    }
}

/// # Safety
/// The list must be NULL, or end with a parameter without a name; its texts and lists must have ends.
unsafe fn parameters(list: *const abi::Parameter) -> Result<Vec<Described>> {
    if list.is_null() {
        return Ok(Vec::new());
    }
    let parameters = until_end(|number| {
        // SAFETY: the caller guarantees that the list has not ended yet, and that its texts and lists have ends.
        let (name, values, meaning) = unsafe {
            let parameter = &*list.add(number);
            let Some(name) = text(parameter.name) else { return Ok(None) };
            (name, values(parameter.values)?, text(parameter.meaning))
        };
        let values = values
            .filter(|values| !values.is_empty())
            .with_context(|| format!("its parameter '{name}' has no list of values"))?;
        for value in &values {
            ensure!(
                !value.is_empty() && !value.contains([':', ',', '=', '*']),
                "the value '{value}' of its parameter '{name}' is empty or has one of : , = *"
            );
        }
        Ok(Some(Described { name, values, meaning: meaning.unwrap_or_default() }))
    })?;
    parameters.context("its list of parameters does not end: a parameter without a name ends it")
}

/// Returns the values, or `None` if the list is NULL or does not end.
///
/// # Safety
/// The list must be NULL, or end with NULL.
unsafe fn values(list: *const *const c_char) -> Result<Option<Vec<String>>> {
    if list.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller guarantees that the list has not ended yet.
    until_end(|number| Ok(unsafe { text(*list.add(number)) }))
}
