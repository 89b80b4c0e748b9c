//! What a call says: a struct for each tool and for each body, from which come what is advertised, what is checked and
//! what is said of a wrong one.
//!
//! The type's JSON Schema ([`Shape`]) is the description that clients see. Arguments are held against it before serde
//! makes a value of them, so that every error is one sentence that says which argument it is and what that takes.

mod fits;
mod shape;

#[cfg(test)]
use rmcp::model::JsonObject;
use runward_model::Caller;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
#[cfg(test)]
use serde_json::Value;
use thiserror::Error;

pub(crate) use fits::CheckedArguments;
pub(crate) use shape::{Setting, Shape};

use crate::tools::Limits;

/// The arguments of a tool, and what they mean.
pub(crate) trait Arguments: DeserializeOwned + JsonSchema {
    /// What the tool is asked to do.
    type Meaning;

    /// Reads them, with what the operator's settings leave open.
    fn decode(self, caller: &Caller, limits: &Limits) -> Result<Self::Meaning, BadArgument>;
}

/// How a tool's arguments are read: their type, which the table of tools need not name.
#[derive(Debug)]
pub(crate) struct Decoder<T> {
    /// What is advertised of them.
    pub(crate) shape: fn() -> Shape,
    /// What they mean.
    pub(crate) decode: fn(CheckedArguments, &Caller, &Limits) -> Result<T, BadArgument>,
}

impl<T> Decoder<T> {
    /// Reads arguments of one type.
    pub(crate) const fn of<A: Arguments<Meaning = T>>() -> Self {
        Decoder {
            shape: || Shape::of::<A>("this tool"),
            decode: |checked, caller, limits| checked.read::<A>()?.decode(caller, limits),
        }
    }

    /// Checks and reads arguments at once.
    #[cfg(test)]
    pub(crate) fn read(&self, limits: &Limits, caller: &Caller, arguments: Value) -> Result<T, BadArgument> {
        (self.decode)((self.shape)().within(limits).check(object(arguments))?, caller, limits)
    }
}

/// What is wrong with arguments: one sentence that says which it is and what it takes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum BadArgument {
    /// Nothing has this name.
    #[error("unknown argument {name:?}; {taker} takes {}", listed(.known))]
    Unknown {
        /// What was given.
        name: String,
        /// Who takes arguments.
        taker: &'static str,
        /// Which.
        known: Vec<String>,
    },
    /// It has to be there.
    #[error("{name} is required: {description}")]
    Missing {
        /// Which.
        name: String,
        /// What it is for.
        description: String,
    },
    /// Its value is not one that it takes.
    #[error("{name} must be {wanted}, got {got}")]
    Value {
        /// Which.
        name: String,
        /// What it takes.
        wanted: String,
        /// What was given.
        got: String,
    },
    /// Each is right by itself.
    #[error("{0}")]
    Contradiction(String),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "no arguments".to_owned() } else { names.join(", ") }
}

/// The object that a test writes as JSON.
#[cfg(test)]
pub(crate) fn object(value: Value) -> JsonObject {
    let Value::Object(object) = value else { panic!("not an object") };
    object
}

#[cfg(test)]
mod tests;
