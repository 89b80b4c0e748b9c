//! What is asked for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A command to run: the body of `POST /raw`. What is absent is not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Call {
    /// A name to look up on the server's search path, or a path.
    pub executable: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The directory to run in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// What its standard input is; empty when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Input>,
    /// The terminal to run on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tty: Option<Tty>,
    /// When to stop it, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// For how long it waits, in milliseconds, for a client whose connection was lost. Such a client has to say what
    /// has arrived ([`crate::Control::acknowledge`]), as nothing else is kept for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_ms: Option<u64>,
}

/// What a command's standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// What is sent later.
    Stream,
}

/// How large a terminal is, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tty {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub cols: u16,
}

/// What would become of a call: the answer of `POST /check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Checked {
    /// Whether it would run.
    pub allowed: bool,
    /// Why, or why not.
    pub reason: String,
    /// The file that would be executed.
    pub path: Option<String>,
    /// The SHA-256 of that file, in hexadecimal digits.
    pub hash: Option<String>,
}
