//! The verdict.

use std::path::Path;

use runward_model::{Argv, Decision, Judged, Verdict};

use crate::{Allowlist, Reading, SearchPath};

/// The rules that an operator set.
#[derive(Clone, Debug)]
pub struct Policy {
    allowlist: Allowlist,
    path: SearchPath,
}

impl Policy {
    /// Judges by this list, with names looked up on this path.
    pub fn new(allowlist: Allowlist, path: SearchPath) -> Self {
        Policy { allowlist, path }
    }

    /// Where names are looked up.
    pub fn path(&self) -> &SearchPath {
        &self.path
    }

    /// Says of every command in the work whether it may run from `cwd`, and why.
    pub fn judge(&self, reading: &Reading, cwd: &Path) -> Verdict {
        match reading {
            Reading::Plain(argv) => {
                let judged = self.judge_argv(argv, cwd);
                Verdict { decision: judged.decision, reason: judged.reason.clone(), commands: vec![judged] }
            }
            Reading::Script(_) => {
                let everything = self.allowlist.allows_everything();
                let (decision, reason) = match everything {
                    true => (Decision::Allow, "allowed by *".to_owned()),
                    false => (
                        Decision::Deny,
                        "shell syntax cannot be judged yet; set ALLOWED_COMMANDS=* to allow everything"
                            .to_owned(),
                    ),
                };
                Verdict { decision, reason, commands: Vec::new() }
            }
        }
    }

    fn judge_argv(&self, argv: &Argv, cwd: &Path) -> Judged {
        let words = std::iter::once(argv.file.clone()).chain(argv.args.iter().cloned()).collect();
        let program = self.path.find(&argv.file);
        let entry = if self.allowlist.allows_everything() {
            Some("*")
        } else {
            self.allowlist.entry_for(&argv.file, &self.path, Some(cwd))
        };
        let (decision, reason) = match entry {
            Some(entry) => (Decision::Allow, format!("allowed by {entry}")),
            None => (
                Decision::Deny,
                format!(
                    "command \"{}\" is not allowed; allowed commands: {} (set ALLOWED_COMMANDS to change this)",
                    argv.file,
                    self.allowlist.listing()
                ),
            ),
        };
        Judged { words, program, decision, reason }
    }
}
