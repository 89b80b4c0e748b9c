//! One command against the list.

use std::path::{Path, PathBuf};

use runward_model::{Decision, Judged};

use crate::allowlist::against;
use crate::builtin_rules::effects;
use crate::builtins::{is_builtin, needs_the_shell};
use crate::judge::{ADVICE, Policy};
use crate::script::Word;
use crate::survey::Survey;
use crate::variables::{decides_what_runs, is_always_a_number, is_never_a_number};
use crate::wrappers::{self, Enclosed};

/// Wrappers inside wrappers, deeper than this, are refused.
const DEEPEST: usize = 16;

/// Where a command stands.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    policy: &'a Policy,
    /// The directory that it runs in; `None` when that is not known.
    cwd: Option<&'a Path>,
    /// The script around it, if bash runs it.
    survey: Option<&'a Survey>,
    depth: usize,
}

impl<'a> Scene<'a> {
    /// A program that is executed without a shell.
    pub(crate) fn direct(policy: &'a Policy, cwd: &'a Path) -> Self {
        Scene { policy, cwd: Some(cwd), survey: None, depth: 0 }
    }

    /// A command in a script.
    pub(crate) fn in_script(policy: &'a Policy, cwd: &'a Path, survey: &'a Survey) -> Self {
        Scene { policy, cwd: (!survey.moves).then_some(cwd), survey: Some(survey), depth: 0 }
    }

    /// Judges a command and the commands inside its arguments.
    pub(crate) fn weigh(&self, words: &[Word], judged: &mut Vec<Judged>) {
        let (decision, reason) = match self.verdict(words) {
            Ok(reason) => (Decision::Allow, reason),
            Err(reason) => (Decision::Deny, reason),
        };
        let name = words.first().and_then(Word::text).unwrap_or_default();
        let program = self.program(name);
        judged.push(Judged { words: words.iter().map(Word::shown).collect(), program, decision, reason });
        // What is inside is worth naming even where everything is allowed, as far as it can be read.
        let inside = self.enclosed(words).unwrap_or_default();
        for enclosed in inside.iter().filter(|_| self.depth < DEEPEST) {
            self.inside(enclosed).weigh_enclosed(enclosed, judged);
        }
    }

    fn weigh_enclosed(&self, enclosed: &Enclosed, judged: &mut Vec<Judged>) {
        judged.extend(enclosed.variables.iter().filter_map(|name| self.objection_to_variable(name)));
        if !enclosed.words.is_empty() {
            self.weigh(&enclosed.words, judged);
        }
    }

    fn inside(&self, enclosed: &Enclosed) -> Self {
        Scene {
            policy: self.policy,
            cwd: self.cwd.filter(|_| !enclosed.moved),
            survey: self.survey.filter(|_| enclosed.in_shell),
            depth: self.depth + 1,
        }
    }

    fn enclosed(&self, words: &[Word]) -> Result<Vec<Enclosed>, String> {
        let Some((first, args)) = words.split_first() else { return Ok(Vec::new()) };
        let Some(name) = first.text() else { return Ok(Vec::new()) };
        let shells_own = matches!(name, "builtin" | "command" | "exec");
        if shells_own && self.survey.is_none() || self.is_function(name) {
            return Ok(Vec::new());
        }
        wrappers::enclosed(base_name(name), args)
    }

    /// Why the command may run, or why not.
    fn verdict(&self, words: &[Word]) -> Result<String, String> {
        if self.policy.allowlist.allows_everything() {
            return Ok("allowed by *".into());
        }
        let Some((first, args)) = words.split_first() else { return Ok("nothing to run".into()) };
        let Some(name) = first.text() else {
            return Err(format!("\"{}\" as a command cannot be judged before it runs; {ADVICE}", first.raw));
        };
        if self.is_function(name) {
            return Ok(format!("\"{name}\" is a function of this script"));
        }
        let entry = self.entry(name)?;
        if self.survey.is_some() && is_builtin(name) {
            // Behind `command` and `builtin` bash splits what it leaves whole behind the builtin itself.
            let splits = Word { raw: String::new(), ..first.clone() };
            let command = if self.depth == 0 { first } else { &splits };
            let effects = effects(command, args).map_err(|why| format!("{why}; {ADVICE}"))?;
            let refused = effects.assigned.iter().find(|(name, _)| decides_what_runs(name));
            if let Some((variable, _)) = refused {
                return Err(sets(variable));
            }
        }
        if self.depth >= DEEPEST {
            return Err(format!(
                "commands inside commands, more than {DEEPEST} deep, are not judged; {ADVICE}"
            ));
        }
        self.enclosed(words).map_err(|why| format!("{why}; {ADVICE}"))?;
        if wrappers::is_interpreter(base_name(name)) {
            return Ok(format!("allowed by {entry}; {name} is an interpreter: whatever it is given runs"));
        }
        Ok(format!("allowed by {entry}"))
    }

    /// The entry of the list that this name matches.
    fn entry(&self, name: &str) -> Result<String, String> {
        let policy = self.policy;
        if self.survey.is_some() && needs_the_shell(name) && policy.allowlist.names(name) {
            return Ok(name.to_owned());
        }
        if name.contains('/') && against(name, self.cwd).is_none() {
            return Err(format!(
                "\"{name}\" depends on a directory that is only known when it runs; {ADVICE}"
            ));
        }
        let entry = policy.allowlist.entry_for(name, &policy.path, self.cwd);
        entry.map(str::to_owned).ok_or_else(|| {
            let listing = policy.allowlist.listing();
            format!("command \"{name}\" is not allowed; allowed commands: {listing} (set ALLOWED_COMMANDS to change this)")
        })
    }

    fn is_function(&self, name: &str) -> bool {
        self.survey.is_some_and(|survey| survey.functions.contains(name))
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        if self.is_function(name) || self.survey.is_some() && is_builtin(name) {
            return None;
        }
        if name.contains('/') {
            return against(name, self.cwd).filter(|file| file.is_file());
        }
        self.policy.path.find(name)
    }

    /// A function may not take the place of a command, and no later call of that command could tell.
    pub(crate) fn objection_to_function(&self, name: &str) -> Option<Judged> {
        let shadows =
            is_builtin(name) || self.policy.path.find(name).is_some() || self.policy.allowlist.names(name);
        let why = format!("the function \"{name}\" would take the place of a command; give it another name");
        shadows.then(|| self.objection(format!("{name}()"), why)).flatten()
    }

    /// A variable that decides what runs may not be set.
    pub(crate) fn objection_to_variable(&self, name: &str) -> Option<Judged> {
        decides_what_runs(name).then(|| self.objection(format!("{name}="), sets(name))).flatten()
    }

    /// A variable that is evaluated has to hold a number.
    pub(crate) fn objection_to_counting(&self, name: &str) -> Option<Judged> {
        let numbers =
            self.survey.is_some_and(|survey| survey.holds_numbers(name)) && !is_never_a_number(name);
        let why = format!(
            "\"{name}\" is evaluated as arithmetic and may hold more than a number, which bash would run; give it plain \
             numbers only, or set ALLOWED_COMMANDS=* to allow everything"
        );
        let safe = numbers || is_always_a_number(name);
        (!safe).then(|| self.objection(name.to_owned(), why)).flatten()
    }

    fn objection(&self, shown: String, reason: String) -> Option<Judged> {
        let objects = !self.policy.allowlist.allows_everything();
        objects.then(|| Judged { words: vec![shown], program: None, decision: Decision::Deny, reason })
    }
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn sets(variable: &str) -> String {
    format!(
        "the variable \"{variable}\" decides what other commands run and may not be set; leave it out, or set ALLOWED_COMMANDS=* to allow everything"
    )
}
