//! What the rules said.

use regorus::Value;
use runward_model::{Decision, Profile};

/// The values of the rules.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(super) allow: Value,
    pub(super) ask: Value,
    pub(super) reason: Value,
    pub(super) profile: Value,
}

impl Answer {
    /// The decision and its reason, if the rules gave one; an error says what is wrong with the values.
    pub(super) fn decision(&self) -> Result<(Decision, Option<String>), String> {
        if self.allow != Value::Bool(true) {
            return Ok((Decision::Deny, text(&self.reason)));
        }
        match &self.ask {
            Value::Undefined | Value::Bool(false) => Ok((Decision::Allow, None)),
            Value::Bool(true) => Ok((Decision::Ask, None)),
            Value::String(why) if !why.is_empty() => Ok((Decision::Ask, Some(why.to_string()))),
            other => Err(format!("data.sandbox.main.ask is {}; it has to be true or a reason", shown(other))),
        }
    }

    /// The sandbox profile that the rules want, if they want one; the narrowest of several.
    pub(super) fn profile(&self) -> Result<Option<Profile>, String> {
        let wrong = |value: &Value| {
            let known = Profile::ALL.map(Profile::name).join(", ");
            format!("data.sandbox.main.profile is {}; it has to be one of {known}", shown(value))
        };
        let one = |value: &Value| {
            let name = value.as_string().ok();
            let known = name.and_then(|name| Profile::ALL.into_iter().find(|one| one.name() == &**name));
            known.ok_or_else(|| wrong(value))
        };
        match &self.profile {
            Value::Undefined => Ok(None),
            Value::Set(all) => Ok(all.iter().map(one).collect::<Result<Vec<_>, _>>()?.into_iter().min()),
            value => one(value).map(Some),
        }
    }

    /// Why something is not allowed, where the rules do not say.
    pub(super) fn told(&self) -> String {
        match &self.allow {
            Value::Undefined => "no rule allows it (data.sandbox.main.allow is undefined)".to_owned(),
            Value::Bool(_) => "data.sandbox.main.allow is false".to_owned(),
            other => format!("data.sandbox.main.allow is {}, which is not the boolean true", shown(other)),
        }
    }
}

/// One reason, or several.
fn text(value: &Value) -> Option<String> {
    let joined = |all: &mut dyn Iterator<Item = &Value>| all.filter_map(text).collect::<Vec<_>>().join("; ");
    let text = match value {
        Value::String(text) => text.to_string(),
        Value::Set(all) => joined(&mut all.iter()),
        Value::Array(all) => joined(&mut all.iter()),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

/// A value for a reader, not more than a line of it.
fn shown(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}
