//! The verdict.

use std::path::Path;

use runward_model::{Argv, Decision, Judged, Verdict};

use crate::script::{Fact, Word};
use crate::survey::Survey;
use crate::weigh::Scene;
use crate::{Allowlist, EnvironmentRules, Reading, SearchPath};

/// The rules that an operator set.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) allowlist: Allowlist,
    pub(crate) path: SearchPath,
    pub(crate) environment: EnvironmentRules,
}

/// What a caller can do about work that cannot be judged.
pub(crate) const ADVICE: &str = "write the command out, or set ALLOWED_COMMANDS=* to allow everything";

impl Policy {
    /// Judges by this list, with names looked up on this path.
    pub fn new(allowlist: Allowlist, path: SearchPath) -> Self {
        Policy { allowlist, path, environment: EnvironmentRules::default() }
    }

    /// The same with these rules for variables that callers give.
    #[must_use]
    pub fn with_environment(self, environment: EnvironmentRules) -> Self {
        Policy { environment, ..self }
    }

    /// Where names are looked up.
    pub fn path(&self) -> &SearchPath {
        &self.path
    }

    /// Says of every command in the work whether it may run from `cwd`, and why.
    pub fn judge(&self, reading: &Reading, cwd: &Path) -> Verdict {
        match reading {
            Reading::Plain(argv) => self.judge_argv(argv, cwd),
            Reading::Script(script) => match script.facts() {
                Ok(facts) => self.judge_facts(facts, cwd),
                Err(why) => self.judge_unreadable(why),
            },
        }
    }

    fn judge_argv(&self, argv: &Argv, cwd: &Path) -> Verdict {
        let words: Vec<Word> = std::iter::once(&argv.file).chain(&argv.args).map(Word::known).collect();
        let mut judged = Vec::new();
        Scene::direct(self, cwd).weigh(&words, &mut judged);
        summed_up(judged)
    }

    fn judge_facts(&self, facts: &[Fact], cwd: &Path) -> Verdict {
        let survey = Survey::of(facts);
        let scene = Scene::in_script(self, cwd, &survey);
        let mut judged = Vec::new();
        for fact in facts {
            match fact {
                Fact::Command(words) => scene.weigh(words, &mut judged),
                Fact::Function(name) => judged.extend(scene.objection_to_function(name)),
                Fact::Assigned { name, .. } => judged.extend(scene.objection_to_variable(name)),
                Fact::Counted(name) => judged.extend(scene.objection_to_counting(name)),
            }
        }
        summed_up(judged)
    }

    fn judge_unreadable(&self, why: &str) -> Verdict {
        let (decision, reason) = if self.allowlist.allows_everything() {
            (Decision::Allow, "allowed by *, although the script could not be read".to_owned())
        } else {
            (Decision::Deny, format!("the script cannot be judged: {why}; {ADVICE}"))
        };
        Verdict { decision, reason, rule: None, suggest: None, commands: Vec::new() }
    }
}

/// The strictest decision, with the reason of the first command that it fell on.
fn summed_up(commands: Vec<Judged>) -> Verdict {
    let decision = commands.iter().map(|judged| judged.decision).max().unwrap_or(Decision::Allow);
    let reason = match commands.iter().find(|judged| judged.decision == decision) {
        Some(judged) if decision != Decision::Allow || commands.len() == 1 => judged.reason.clone(),
        Some(_) => allowed_by(&commands),
        None => "nothing in it runs a command".to_owned(),
    };
    Verdict { decision, reason, rule: None, suggest: None, commands }
}

fn allowed_by(commands: &[Judged]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for judged in commands {
        if !reasons.contains(&judged.reason.as_str()) {
            reasons.push(&judged.reason);
        }
    }
    format!("all {} commands are allowed: {}", commands.len(), reasons.join("; "))
}
