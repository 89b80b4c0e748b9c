//! Whether a piece of work is a patch and nothing else.
//!
//! Read strictly: what is not recognised is an ordinary command, which is judged and run as such. So a script is a patch
//! only if every shell would give `apply_patch` exactly this text from exactly this directory.

mod script;

use runward_model::{Argv, Work};

use crate::NAME;
use crate::grammar::looks_like_a_patch;
use script::Script;

/// The names that it is called by.
pub(crate) const NAMES: [&str; 2] = [NAME, "applypatch"];

/// The shells whose `-c` is looked into.
const SHELLS: [&str; 3] = ["bash", "zsh", "sh"];

/// What a piece of work turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// A call of `apply_patch`.
    Call {
        /// The text of the patch.
        patch: String,
        /// The directory to go to first, as the work names it.
        cd: Option<String>,
    },
    /// A patch that is not given to anything.
    Bare,
}

/// Whether a piece of work is a patch and nothing else; `None` for every other command.
pub fn recognise(work: &Work) -> Option<Recognised> {
    match work {
        Work::Argv(Argv { file, args }) => in_argv(file, args),
        text => in_script(&text.to_string()),
    }
}

fn in_argv(file: &str, args: &[String]) -> Option<Recognised> {
    let base = file.rsplit('/').next().unwrap_or(file);
    match args {
        [] if looks_like_a_patch(file) => Some(Recognised::Bare),
        [patch] if NAMES.contains(&file) => Some(Recognised::Call { patch: patch.clone(), cd: None }),
        [flag, script] if SHELLS.contains(&base) && (flag == "-c" || flag == "-lc") => in_script(script),
        _ => None,
    }
}

fn in_script(script: &str) -> Option<Recognised> {
    if looks_like_a_patch(script) {
        return Some(Recognised::Bare);
    }
    // Most lines are something else: look no further.
    if !NAMES.iter().any(|name| script.contains(name)) || script.contains('\0') {
        return None;
    }
    Script::new(script).call()
}

#[cfg(test)]
mod tests;
