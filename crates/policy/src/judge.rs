//! The verdict.

use std::path::Path;

use runward_model::{Argv, Decision, Judged, Verdict};

use crate::script::{Fact, Word};
use crate::weigh::{Scene, Weighed};
use crate::{Allowlist, EnvironmentRules, Reading, Rules, SearchPath};

/// The rules that an operator set.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) allowlist: Allowlist,
    pub(crate) path: SearchPath,
    pub(crate) rules: Rules,
    pub(crate) environment: EnvironmentRules,
}

impl Policy {
    /// Judges by this list, with names looked up on this path.
    pub fn new(allowlist: Allowlist, path: SearchPath) -> Self {
        Policy { allowlist, path, rules: Rules::default(), environment: EnvironmentRules::default() }
    }

    /// The same with these rules beyond the list.
    #[must_use]
    pub fn with_rules(self, mut rules: Rules) -> Self {
        rules.look_up(&self.path);
        Policy { rules, ..self }
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

    /// Whether any rule can stop a command; if none can, `*` allows even what cannot be read.
    pub fn restricts(&self) -> bool {
        !self.allowlist.allows_everything() || self.rules.restrict()
    }

    /// Whether any layer allows anything.
    pub fn allows_something(&self) -> bool {
        let allows = |rule: &crate::PrefixRule| rule.decision() == Decision::Allow;
        !self.allowlist.entries().is_empty() || self.rules.prefixes.iter().any(allows)
    }

    /// Says of every command in the work whether it may run from `cwd`, and why.
    pub fn judge(&self, reading: &Reading, cwd: &Path) -> Verdict {
        let verdict = match reading {
            Reading::Plain(argv) => self.judge_argv(argv, cwd),
            Reading::Script(script) => match script.facts() {
                Ok(facts) => self.judge_facts(facts, cwd),
                Err(why) => self.judge_unreadable(why),
            },
        };
        if verdict.decision == Decision::Deny || self.allows_something() {
            return verdict;
        }
        let reason = "nothing is allowed; set ALLOWED_COMMANDS to change this".to_owned();
        let rule = Some(format!("no command is allowed ({})", self.allowlist.place_of("")));
        Verdict { decision: Decision::Deny, reason, rule, suggest: None, commands: verdict.commands }
    }

    /// What a caller can do about work that cannot be judged.
    pub(crate) fn advice(&self) -> &'static str {
        if self.rules.restrict() {
            "write it so that it can be read, because some commands are blocked here"
        } else {
            "write the command out, or set ALLOWED_COMMANDS=* to allow everything"
        }
    }

    fn judge_argv(&self, argv: &Argv, cwd: &Path) -> Verdict {
        let words: Vec<Word> = std::iter::once(&argv.file).chain(&argv.args).map(Word::known).collect();
        let mut weighed = Vec::new();
        Scene::direct(self, cwd).weigh(&words, &mut weighed);
        summed_up(weighed)
    }

    fn judge_facts(&self, facts: &[Fact], cwd: &Path) -> Verdict {
        let mut weighed = Vec::new();
        Scene::direct(self, cwd).weigh_script(facts, &mut weighed);
        summed_up(weighed)
    }

    fn judge_unreadable(&self, why: &str) -> Verdict {
        if !self.restricts() {
            let reason = "allowed by *, although the script could not be read".to_owned();
            let rule = Some(format!("* ({})", self.allowlist.place_of("*")));
            return Verdict { decision: Decision::Allow, reason, rule, ..Verdict::default() };
        }
        let reason = format!("the script cannot be judged: {why}; {}", self.advice());
        Verdict { reason, ..Verdict::default() }
    }
}

/// The strictest decision, with the reason of the first command that it fell on.
fn summed_up(weighed: Vec<Weighed>) -> Verdict {
    let decision = weighed.iter().map(|one| one.judged.decision).max().unwrap_or(Decision::Allow);
    let suggest = suggestion(&weighed);
    let commands: Vec<Judged> = weighed.into_iter().map(|one| one.judged).collect();
    let deciding = commands.iter().find(|judged| judged.decision == decision);
    let single = decision != Decision::Allow || commands.len() == 1;
    let reason = match deciding {
        Some(judged) if single => judged.reason.clone(),
        Some(_) => allowed_by(&commands),
        None => "nothing in it runs a command".to_owned(),
    };
    let rule = deciding.filter(|_| single).and_then(|judged| judged.rule.clone());
    Verdict { decision, reason, rule, suggest, commands }
}

/// The rules that together would allow everything that is not allowed, if there are such rules.
fn suggestion(weighed: &[Weighed]) -> Option<String> {
    let mut rules: Vec<&str> = Vec::new();
    for one in weighed.iter().filter(|one| one.judged.decision != Decision::Allow) {
        let rule = one.suggest.as_deref()?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    (!rules.is_empty()).then(|| rules.join("\n\n"))
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
