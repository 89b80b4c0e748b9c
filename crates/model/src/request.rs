//! What a door decoded.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Caller, OutputId, Wish};

/// What a door decoded: foreign names are gone, defaults are filled in, nothing is checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Who asks.
    pub caller: Caller,
    /// What to run.
    pub work: Work,
    /// Where; the server's own directory when absent.
    pub cwd: Option<PathBuf>,
    /// Variables beyond those that every command gets, by name; the policy judges them too.
    pub env: Vec<(String, String)>,
    /// Variables that the door itself sets; nobody judges them, and nothing replaces them.
    pub door_env: Vec<(String, String)>,
    /// What its three descriptors are.
    pub stdio: Stdio,
    /// When to stop it; `None` is never.
    pub timeout: Option<Duration>,
    /// How it hangs together with other runs.
    pub workflow: Workflow,
    /// What it would like beyond what it gets unasked.
    pub wish: Wish,
    /// The name of the workspace that it shares with other requests, where its client's others are not known.
    pub workspace: Option<String>,
    /// Who reaches what it serves, besides the other commands of its client.
    pub service: Service,
}

/// Who reaches what a command serves, besides the other commands of its client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Service {
    /// Whether the server does, to see whether it answers.
    pub is_probed: bool,
    /// The ports at which whoever is on this host does, by the host's own loopback.
    pub publish: Vec<u16>,
}

impl Service {
    /// Whether anybody does.
    pub fn is_reached(&self) -> bool {
        self.is_probed || !self.publish.is_empty()
    }
}

impl Request {
    /// A request for some work, and nothing beyond the usual.
    pub fn new(caller: Caller, work: Work) -> Self {
        Request {
            caller,
            work,
            cwd: None,
            env: Vec::new(),
            door_env: Vec::new(),
            stdio: Stdio::default(),
            timeout: None,
            workflow: Workflow::default(),
            wish: Wish::default(),
            workspace: None,
            service: Service::default(),
        }
    }

    /// In a directory; an empty one is none.
    #[must_use]
    pub fn in_directory(self, cwd: Option<PathBuf>) -> Self {
        Request { cwd: cwd.filter(|cwd| !cwd.as_os_str().is_empty()), ..self }
    }
}

/// What a command's three descriptors are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stdio {
    /// Pipes, and an input that is at its end from the beginning.
    #[default]
    Pipes,
    /// Pipes, and an input that holds this before its end.
    Given(Vec<u8>),
    /// Pipes, and an input that stays open for what is written later.
    Open,
    /// One terminal.
    Terminal(Size),
}

/// How large a terminal is, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "an object with rows and cols (integers from 1 to 65535)")]
pub struct Size {
    /// Lines.
    #[schemars(range(min = 1))]
    pub rows: u16,
    /// Characters in a line.
    #[schemars(range(min = 1))]
    pub cols: u16,
}

impl Default for Size {
    /// As terminals have been since the first ones.
    fn default() -> Self {
        Size { rows: 24, cols: 80 }
    }
}

/// How a run hangs together with those before and after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// The run whose standard output is this one's standard input.
    pub input_from: Option<OutputId>,
    /// The run that must have ended in a certain way; otherwise this one is skipped.
    pub only_if: Option<Condition>,
    /// What a failure means for the runs that follow.
    pub on_failure: OnFailure,
    /// The caller's own name for this request: while it is remembered, the same name is the same run.
    pub key: Option<String>,
}

/// How an earlier run must have ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Which run.
    pub output: OutputId,
    /// With which exit code.
    pub exit_code: i32,
}

/// What a failure means for the runs that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnFailure {
    /// Nothing.
    #[default]
    GoOn,
    /// They are refused until a person says otherwise.
    Abort,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// A command line as a person would type it. Executed directly when it has no shell syntax,
    /// else by bash, once every command in it has been judged.
    Line(String),
    /// The same by a shell of the caller's choice.
    Script(Script),
    /// A program and its arguments; no shell ever sees them.
    Argv(Argv),
}

/// Text for a shell of the caller's choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The text.
    pub source: String,
    /// The shell by name or path; `None` is the one that runs command lines.
    pub shell: Option<String>,
    /// Whether it finds what a login shell would have set up.
    pub login: bool,
}

/// A program as the caller named it, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argv {
    /// A name to look up on the search path, or a path.
    pub file: String,
    /// What follows it.
    pub args: Vec<String>,
}

impl fmt::Display for Work {
    /// As a person would type it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Line(line) | Work::Script(Script { source: line, .. }) => f.write_str(line),
            Work::Argv(Argv { file, args }) => {
                f.write_str(&quoted(file))?;
                args.iter().try_for_each(|arg| write!(f, " {}", quoted(arg)))
            }
        }
    }
}

/// A word as bash would read it back.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_as_a_shell_would_read_them_back() {
        let args = ["-la", "", "it's", "a b"].map(str::to_owned).to_vec();
        assert_eq!(Work::Argv(Argv { file: "ls".into(), args }).to_string(), r"ls -la '' 'it'\''s' 'a b'");
    }
}
