//! The rules in Rego as a layer among the others.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use runward_model::{Decision, Profile};

use super::Input;
use crate::Held;
use crate::facts::Word;
use crate::rules::Ruling;
use crate::weigh::Scene;

impl Scene<'_> {
    /// What the rules in Rego say of a command; `None` where there are none, or where there is nothing to judge.
    pub(crate) fn ruling_by_rego(
        &self,
        words: &[Word],
        program: Option<&Path>,
    ) -> Option<(Ruling, Option<Profile>)> {
        let rego = self.policy.rego.as_ref()?;
        let (first, rest) = words.split_first()?;
        // What any word of another command could mean is a guess: the rules see that command with all of its words.
        if self.is_guessed() || first.text().is_some_and(|name| self.is_function(name)) {
            return None;
        }
        let (Some(command), Ok(args)) = (first.text(), known(rest)) else {
            return Some((unknown(words, self.policy.advice()), None));
        };
        let held = self.held().filter(|held| Some(held.path()) == program);
        let path =
            held.map_or_else(|| program.and_then(place), |held| Some(held.place().0.join(&held.place().1)));
        let reopened = |program| Held::open(program).ok()?.hashed().ok();
        let opened = if held.is_none() { program.and_then(reopened) } else { None };
        let input = Input {
            command,
            args,
            path: path.as_deref(),
            hash: held.or(opened.as_ref()).and_then(Held::hash),
            direct: held.is_some(),
            cwd: self.cwd,
            asker: &self.case.asker,
            variables: self.variables(),
            shell: &self.case.shell,
        };
        if let Some(traces) = &self.case.traces {
            traces.borrow_mut().extend(rego.trace(&input));
        }
        Some(rego.decide(&input, &self.case.budget))
    }

    /// Variables that the script or a wrapper sets for this command.
    fn variables(&self) -> Vec<&str> {
        let settings = std::iter::successors(self.set, |set| set.outer);
        settings.flat_map(|set| set.names).map(String::as_str).collect()
    }
}

/// The words, or the first that is only known when it runs.
fn known(words: &[Word]) -> Result<Vec<&str>, &Word> {
    words.iter().map(|word| word.text().ok_or(word)).collect()
}

fn unknown(words: &[Word], advice: &str) -> Ruling {
    let raw = words.iter().find(|word| word.text().is_none()).map_or("", |word| word.raw.as_str());
    let reason = format!("\"{raw}\" is only known when it runs and cannot be judged before; {advice}");
    Ruling { decision: Decision::Deny, reason, rule: None }
}

/// A path without links and dots on the way to the file. The file's own name is kept: one file may be many programs.
fn place(program: &Path) -> Option<PathBuf> {
    let name = program.file_name().filter(|name| *name != OsStr::new(".."))?;
    Some(program.parent()?.canonicalize().ok()?.join(name))
}
