//! Arguments that were checked.

use std::collections::HashMap;

use runward_model::Size;
use serde_json::{Map, Number, Value};

use super::{Kind, Need, Param};

/// Arguments that were checked: every value is of its parameter's kind, and defaults are filled in.
#[derive(Debug, Default)]
pub(crate) struct Given {
    texts: HashMap<&'static str, String>,
    lists: HashMap<&'static str, Vec<String>>,
    maps: HashMap<&'static str, Vec<(String, String)>>,
    integers: HashMap<&'static str, u64>,
    switches: HashMap<&'static str, bool>,
    exits: HashMap<&'static str, (String, i32)>,
    sizes: HashMap<&'static str, Size>,
}

impl Given {
    /// A string, where the caller gave one.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.texts.remove(name)
    }

    /// A required string.
    pub(crate) fn word(&mut self, name: &str) -> String {
        self.texts.remove(name).unwrap_or_default()
    }

    /// A list of strings.
    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        self.lists.remove(name).unwrap_or_default()
    }

    /// Strings by name.
    pub(crate) fn map(&mut self, name: &str) -> Vec<(String, String)> {
        self.maps.remove(name).unwrap_or_default()
    }

    /// Yes or no.
    pub(crate) fn switch(&self, name: &str) -> bool {
        self.switches.get(name).copied().unwrap_or_default()
    }

    /// How large a terminal is, where the caller gave that.
    pub(crate) fn size(&self, name: &str) -> Option<Size> {
        self.sizes.get(name).copied()
    }

    /// A run by its output, and an exit code, where the caller gave them.
    pub(crate) fn exit_of(&mut self, name: &str) -> Option<(String, i32)> {
        self.exits.remove(name)
    }

    /// A whole number.
    pub(crate) fn integer(&self, name: &str) -> u64 {
        self.integers.get(name).copied().unwrap_or_default()
    }

    pub(super) fn take(&mut self, param: &Param, value: Option<Value>) -> Result<(), String> {
        let Some(value) = value else {
            if param.need == Need::Required {
                return Err(param.missing());
            }
            match param.kind {
                Kind::Integer { default, .. } | Kind::Whole { default } => {
                    self.integers.insert(param.name, default);
                }
                Kind::SwitchOn => {
                    self.switches.insert(param.name, true);
                }
                _ => {}
            }
            return Ok(());
        };
        match (param.kind, value) {
            (Kind::Word, Value::String(text)) if text.is_empty() => Err(param.wrong(&Value::String(text))),
            (Kind::Text | Kind::Word, Value::String(text)) => {
                self.texts.insert(param.name, text);
                Ok(())
            }
            (Kind::Choice(words) | Kind::OneOf(words), Value::String(text))
                if words.contains(&text.as_str()) =>
            {
                self.texts.insert(param.name, text);
                Ok(())
            }
            (Kind::Size, value) => {
                self.sizes.insert(param.name, size(&value).ok_or_else(|| param.wrong(&value))?);
                Ok(())
            }
            (Kind::Whole { .. }, Value::Number(number)) => {
                let value = whole(&number).ok_or_else(|| param.wrong(&Value::Number(number)))?;
                self.integers.insert(param.name, value);
                Ok(())
            }
            (Kind::Switch | Kind::SwitchOn, Value::Bool(value)) => {
                self.switches.insert(param.name, value);
                Ok(())
            }
            (Kind::ExitOf, value) => {
                self.exits.insert(param.name, exit_of(&value).ok_or_else(|| param.wrong(&value))?);
                Ok(())
            }
            (Kind::TextList, Value::Array(items)) => {
                self.lists.insert(param.name, strings(items).map_err(|items| param.wrong(&items))?);
                Ok(())
            }
            (Kind::TextMap, Value::Object(fields)) => {
                self.maps.insert(param.name, fields_of(fields).map_err(|fields| param.wrong(&fields))?);
                Ok(())
            }
            (Kind::Integer { min, max, .. }, Value::Number(number)) => {
                let whole = whole(&number).filter(|value| (min..=max).contains(value));
                self.integers.insert(param.name, whole.ok_or_else(|| param.wrong(&Value::Number(number)))?);
                Ok(())
            }
            (_, value) => Err(param.wrong(&value)),
        }
    }
}

/// Exactly the two fields, neither of them zero.
fn size(value: &Value) -> Option<Size> {
    let fields = value.as_object().filter(|fields| fields.len() == 2)?;
    let side = |name: &str| u16::try_from(fields.get(name)?.as_u64()?).ok().filter(|side| *side > 0);
    Some(Size { rows: side("rows")?, cols: side("cols")? })
}

/// Exactly the two fields.
fn exit_of(value: &Value) -> Option<(String, i32)> {
    let fields = value.as_object().filter(|fields| fields.len() == 2)?;
    let output = fields.get("output_id")?.as_str().filter(|id| !id.is_empty())?;
    let exit_code = i32::try_from(fields.get("exit_code")?.as_i64()?).ok()?;
    Some((output.to_owned(), exit_code))
}

fn strings(items: Vec<Value>) -> Result<Vec<String>, Value> {
    if !items.iter().all(Value::is_string) {
        return Err(Value::Array(items));
    }
    let text = |item| if let Value::String(text) = item { Some(text) } else { None };
    Ok(items.into_iter().filter_map(text).collect())
}

fn fields_of(fields: Map<String, Value>) -> Result<Vec<(String, String)>, Value> {
    if !fields.values().all(Value::is_string) {
        return Err(Value::Object(fields));
    }
    let text = |(name, value)| if let Value::String(text) = value { Some((name, text)) } else { None };
    Ok(fields.into_iter().filter_map(text).collect())
}

/// A number that stands for a whole one: JSON Schema counts 1000.0 as an integer.
fn whole(number: &Number) -> Option<u64> {
    /// Above this, neighbouring doubles are further than 1 apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..=EXACT).contains(float))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
        Some(float as u64)
    })
}
