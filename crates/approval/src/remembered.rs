//! What a person approved for the whole conversation.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use runward_model::{Confinement, OutputId, Principal, Stdio};

use crate::{Case, Conversation};

/// More approvals than this are not remembered: then the next one is asked again.
const MOST: usize = 1024;

/// Whole inputs up to this size are remembered with what reads them.
const LARGEST_INPUT: usize = 64 * 1024;

/// Everything that has to be the same for an approval to count again. The directory counts by its path: two directories
/// that have one path at different times are one to whoever approves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    principal: Principal,
    conversation: Arc<str>,
    program: PathBuf,
    argv: Vec<String>,
    directory: PathBuf,
    env: Vec<(String, String)>,
    stdio: Stdio,
    input_from: Option<OutputId>,
    confinement: Confinement,
    /// The files that it names and that commands may write, as they were then.
    tied: Vec<(PathBuf, String)>,
    /// What the rules said of it then: other rules, another question.
    reason: String,
    rules: Vec<(String, Option<String>)>,
}

/// What would have to be the same again.
pub(crate) fn key(case: &Case<'_>, reason: &str, conversation: &Conversation) -> Key {
    let request = case.request;
    Key {
        principal: request.caller.principal.clone(),
        conversation: conversation.name.clone(),
        program: case.program.to_owned(),
        argv: case.argv.to_vec(),
        directory: case.directory.to_owned(),
        env: request.env.clone(),
        stdio: request.stdio.clone(),
        input_from: request.workflow.input_from.clone(),
        confinement: request.wish.confinement,
        tied: case.tied.clone(),
        reason: reason.to_owned(),
        rules: case
            .verdict
            .commands
            .iter()
            .map(|judged| (judged.reason.clone(), judged.rule.clone()))
            .collect(),
    }
}

/// What a person approved for the whole conversation.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Mutex<HashSet<Key>>);

impl Remembered {
    pub(crate) fn knows(&self, key: &Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }

    pub(crate) fn add(&self, key: Key) {
        let is_large = matches!(&key.stdio, Stdio::Given(input) if input.len() > LARGEST_INPUT);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Where nobody knows which client calls, there is no session that an answer could be for.
        if known.len() < MOST && !is_large && !key.principal.is_any_client() {
            known.insert(key);
        }
    }
}
