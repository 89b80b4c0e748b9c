//! Rules in Rego: every `.rego` file below a directory, asked about each command.
//!
//! The set as a whole either loads or it does not. One that does not, or that contradicts itself while it is asked,
//! denies everything and says why, until its files are changed. What a policy does with the words of a caller (a number
//! that is none, a pattern that is none) denies that one command and nothing else.

mod answer;
mod evaluate;
mod fault;
mod input;
mod layer;
mod recursion;
mod sources;
mod trace;
mod watch;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use regorus::Engine;
use runward_model::{Decision, Profile};

use crate::rules::Ruling;
pub(crate) use answer::Answer;
use evaluate::Failure;
pub(crate) use evaluate::{Budget, Queries};
pub(crate) use input::Input;
pub use trace::{Definition, Outcome, Trace};
pub use watch::Watch;

/// The rule that has to be true.
const ALLOW: &str = "data.sandbox.main.allow";
/// The rule that asks a person.
const ASK: &str = "data.sandbox.main.ask";
/// The rule that wants a narrower sandbox.
const PROFILE: &str = "data.sandbox.main.profile";
/// The rule that says why not.
const REASON: &str = "data.sandbox.main.reason";

/// A stack has to hold all of them, should each lean on the next.
const MOST_RULES: usize = 4000;

/// How long loading may take.
const LOADING: Duration = Duration::from_secs(10);

/// A directory of rules in Rego, as it was when it was loaded. Cheap to clone.
#[derive(Clone)]
pub struct Rego(Arc<Loaded>);

struct Loaded {
    directory: PathBuf,
    sources: Vec<sources::Source>,
    set: Result<Set, String>,
    /// What went wrong while the set was asked; nothing is allowed from then on.
    fault: OnceLock<String>,
}

#[derive(Clone)]
struct Set {
    engine: Engine,
    queries: Queries,
}

impl Rego {
    /// Loads every `.rego` file below a directory. A set that does not load is a set that denies everything.
    pub fn load(directory: &Path) -> Self {
        let (sources, set) = match sources::read(directory) {
            Ok(sources) => {
                let set = compile(directory, &sources);
                (sources, set)
            }
            Err(why) => (Vec::new(), Err(why)),
        };
        Rego(Arc::new(Loaded { directory: directory.to_owned(), sources, set, fault: OnceLock::new() }))
    }

    /// Where it was loaded from.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// Why everything is denied, if that is so.
    pub fn fault(&self) -> Option<&str> {
        let loading = self.0.set.as_ref().err();
        loading.or_else(|| self.0.fault.get()).map(String::as_str)
    }

    /// Whether both were loaded from the same files with the same text, or failed for the same reason.
    fn is_same_as(&self, other: &Rego) -> bool {
        self.0.sources == other.0.sources && self.0.set.as_ref().err() == other.0.set.as_ref().err()
    }

    /// What the rules say of one command, and the sandbox profile that they want for it.
    pub(crate) fn decide(&self, input: &Input<'_>, budget: &Budget) -> (Ruling, Option<Profile>) {
        let answer = match self.answer(input, budget) {
            Ok(answer) => answer,
            Err(ruling) => return (ruling, None),
        };
        match answer.profile() {
            Ok(profile) => (self.rule(&answer, input.command), profile),
            Err(why) => (self.ruling(Decision::Deny, why), None),
        }
    }

    fn answer(&self, input: &Input<'_>, budget: &Budget) -> Result<Answer, Ruling> {
        let set = match (&self.0.set, self.fault()) {
            (Ok(set), None) => set,
            (_, fault) => return Err(self.broken(fault.unwrap_or_default())),
        };
        let value = input.value().map_err(|why| self.ruling(Decision::Deny, why))?;
        set.ask(&value, budget).map_err(|failure| match failure {
            Failure::Unfinished(why) => self.ruling(Decision::Deny, why),
            Failure::Error(why) if set.fails_only_by_its_words(&value, budget) => {
                self.ruling(Decision::Deny, format!("the policy could not judge this command: {why}"))
            }
            Failure::Error(why) => self.broken(self.0.fault.get_or_init(|| why)),
        })
    }

    fn rule(&self, answer: &Answer, command: &str) -> Ruling {
        match answer.decision() {
            Ok((Decision::Allow, _)) => self.ruling(Decision::Allow, format!("allowed by {ALLOW}")),
            Ok((Decision::Ask, why)) => {
                let why = why.unwrap_or_else(|| "a person has to approve it".to_owned());
                Ruling { rule: Some(self.rule_name(ASK)), ..self.ruling(Decision::Ask, why) }
            }
            Ok((Decision::Deny, Some(why))) => {
                self.ruling(Decision::Deny, format!("command \"{command}\" is denied by the policy: {why}"))
            }
            Ok((Decision::Deny, None)) => {
                let why = format!("command \"{command}\" is denied by the policy: {}", answer.told());
                self.ruling(Decision::Deny, why)
            }
            Err(why) => self.ruling(Decision::Deny, why),
        }
    }

    fn broken(&self, why: &str) -> Ruling {
        let directory = self.0.directory.display();
        let reason = format!("nothing is allowed while the policy in {directory} is broken: {why}");
        self.ruling(Decision::Deny, reason)
    }

    fn ruling(&self, decision: Decision, reason: String) -> Ruling {
        Ruling { decision, reason, rule: Some(self.rule_name(ALLOW)) }
    }

    fn rule_name(&self, rule: &str) -> String {
        format!("{rule} ({})", self.0.directory.display())
    }
}

impl fmt::Debug for Rego {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files: Vec<_> = self.0.sources.iter().map(|source| &source.path).collect();
        f.debug_struct("Rego").field("files", &files).field("fault", &self.fault()).finish_non_exhaustive()
    }
}

/// Parses the files and checks what the interpreter would only find out by falling over it.
fn compile(directory: &Path, sources: &[sources::Source]) -> Result<Set, String> {
    if sources.is_empty() {
        return Err(format!("there is no .rego file below {}", directory.display()));
    }
    let sources = sources.to_vec();
    let loading = move || -> Result<Set, String> {
        let mut engine = new_engine();
        for source in &sources {
            let added = engine.add_policy(source.path.display().to_string(), source.text.clone());
            added.map_err(|error| fault::told(&error))?;
        }
        let rules: usize = engine.get_modules().iter().map(|module| module.policy.len()).sum();
        if rules > MOST_RULES {
            return Err(format!("more than {MOST_RULES} rules"));
        }
        recursion::refuse(&mut engine)?;
        let queries = Queries::of(&mut engine)?;
        Ok(Set { engine, queries })
    };
    evaluate::aside(LOADING, loading).unwrap_or_else(|failure| Err(failure.to_string()))
}

/// Without network, files or variables of the server; what a policy prints is kept for traces.
fn new_engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_strict_builtin_errors(true);
    engine.set_gather_prints(true);
    engine
}
