//! One command against every layer.

use std::path::{Path, PathBuf};

use runward_model::{Decision, Judged};

use crate::allowlist::against;
use crate::builtin_rules::effects;
use crate::builtins::{is_builtin, needs_the_shell};
use crate::judge::Policy;
use crate::objections::sets;
use crate::rules::{Program, Ruling};
use crate::script::{Fact, Word};
use crate::suggest;
use crate::survey::Survey;
use crate::variables::decides_what_runs;
use crate::wrappers::{self, Enclosed};

/// Wrappers inside wrappers, deeper than this, are refused.
const DEEPEST: usize = 16;

/// A program that starts its words may have so many of them, since each is looked at as the beginning of a command.
const MOST_SUFFIXES: usize = 256;

/// Files that are many programs, by the name that they are called by.
const MANY_IN_ONE: &[&str] = &["busybox", "coreutils", "toybox"];

/// Where a command stands.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) policy: &'a Policy,
    /// The directory that it runs in; `None` when that is not known.
    cwd: Option<&'a Path>,
    /// The script around it, if bash runs it.
    pub(crate) survey: Option<&'a Survey>,
    /// The shell around it, if it is in the text that an allowed one is given.
    granted: Option<&'a str>,
    sifting: Sifting,
    depth: usize,
}

/// Whether a command was found by looking at every word of another one. What is inside such a command is looked at by
/// itself, as another of those words, and need not be followed twice.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sifting {
    /// It was not.
    No,
    /// It begins at one of those words.
    Word,
    /// It is inside one that does.
    Inside,
}

/// A command with what is said of it.
#[derive(Debug)]
pub(crate) struct Weighed {
    pub(crate) judged: Judged,
    /// The narrowest rule that would allow it.
    pub(crate) suggest: Option<String>,
}

/// Why a command may run.
struct Grant {
    reason: String,
    rule: Option<String>,
}

/// Why a command may not run.
struct Denial {
    reason: String,
    rule: Option<String>,
    suggest: Option<String>,
}

impl From<String> for Denial {
    fn from(reason: String) -> Self {
        Denial { reason, rule: None, suggest: None }
    }
}

impl<'a> Scene<'a> {
    /// A program that is executed without a shell.
    pub(crate) fn direct(policy: &'a Policy, cwd: &'a Path) -> Self {
        Scene { policy, cwd: Some(cwd), survey: None, granted: None, sifting: Sifting::No, depth: 0 }
    }

    /// Judges everything that a script does.
    pub(crate) fn weigh_script(&self, facts: &[Fact], weighed: &mut Vec<Weighed>) {
        let survey = Survey::of(facts);
        let cwd = self.cwd.filter(|_| !survey.moves);
        let scene = Scene { cwd, survey: Some(&survey), ..*self };
        for fact in facts {
            match fact {
                Fact::Command(words) => scene.weigh(words, weighed),
                Fact::Function(name) => weighed.extend(scene.objection_to_function(name)),
                Fact::Assigned { name, .. } => weighed.extend(scene.objection_to_variable(name)),
                Fact::Counted(name) => weighed.extend(scene.objection_to_counting(name)),
            }
        }
    }

    /// Judges a command and the commands inside its arguments.
    pub(crate) fn weigh(&self, words: &[Word], weighed: &mut Vec<Weighed>) {
        let name = words.first().and_then(Word::text).unwrap_or_default();
        let program = self.program(name);
        weighed.push(self.strictest(words, program, self.allowed(words)));
        if self.depth >= DEEPEST {
            return;
        }
        // What is inside is worth naming even where everything is allowed, as far as it can be read.
        for enclosed in &self.enclosed(words).unwrap_or_default() {
            self.inside(enclosed).weigh_enclosed(enclosed, weighed);
        }
        if self.sifting == Sifting::No && self.is_sifted(name) {
            self.weigh_suffixes(name, words, weighed);
        }
        if self.sifting == Sifting::Inside {
            return;
        }
        if let Ok(Some(facts)) = self.handed(words) {
            // Whoever is allowed a shell is allowed what it is given, unless a rule forbids that.
            Scene { granted: Some(name), sifting: Sifting::No, depth: self.depth + 1, ..*self }
                .weigh_script(&facts, weighed);
        }
    }

    fn is_sifted(&self, name: &str) -> bool {
        self.policy.rules.restrict() && wrappers::starts_its_words(base_name(name))
    }

    /// Judges what a program could start from any of its words on, and keeps what may not run.
    fn weigh_suffixes(&self, name: &str, words: &[Word], weighed: &mut Vec<Weighed>) {
        let inside = Scene { granted: Some(name), sifting: Sifting::Word, depth: self.depth + 1, ..*self };
        for start in 1..words.len().min(MOST_SUFFIXES) {
            let suffix = words.get(start..).unwrap_or_default();
            if suffix.first().and_then(Word::text).is_some_and(|word| !word.starts_with('-')) {
                let mut found = Vec::new();
                inside.weigh(suffix, &mut found);
                weighed.extend(found.into_iter().filter(|one| one.judged.decision != Decision::Allow));
            }
        }
    }

    fn weigh_enclosed(&self, enclosed: &Enclosed, weighed: &mut Vec<Weighed>) {
        weighed.extend(enclosed.variables.iter().filter_map(|name| self.objection_to_variable(name)));
        if !enclosed.words.is_empty() {
            self.weigh(&enclosed.words, weighed);
        }
    }

    fn inside(&self, enclosed: &Enclosed) -> Self {
        Scene {
            cwd: self.cwd.filter(|_| !enclosed.moved),
            survey: self.survey.filter(|_| enclosed.in_shell),
            sifting: if self.sifting == Sifting::No { Sifting::No } else { Sifting::Inside },
            depth: self.depth + 1,
            ..*self
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

    /// What the text that it hands to a shell does.
    fn handed(&self, words: &[Word]) -> Result<Option<Vec<Fact>>, String> {
        let Some((first, args)) = words.split_first() else { return Ok(None) };
        let name = first.text().filter(|name| !self.is_function(name));
        name.map_or(Ok(None), |name| wrappers::handed(base_name(name), args))
    }

    /// Everything that is said of a command, of which the strictest counts.
    fn strictest(&self, words: &[Word], program: Option<PathBuf>, allowed: Result<Grant, Denial>) -> Weighed {
        let objection = self.objection_by_rule(words, program.as_deref());
        let shown = words.iter().map(Word::shown).collect();
        let (ruling, suggest) = match (allowed, objection) {
            (_, Some(ruling)) if ruling.decision == Decision::Deny => (ruling, None),
            (Err(Denial { reason, rule, suggest }), None) => {
                (Ruling { decision: Decision::Deny, reason, rule }, suggest)
            }
            (Err(Denial { reason, rule, .. }), Some(_)) => {
                (Ruling { decision: Decision::Deny, reason, rule }, None)
            }
            (Ok(_), Some(ruling)) => (ruling, None),
            (Ok(Grant { reason, rule }), None) => (Ruling { decision: Decision::Allow, reason, rule }, None),
        };
        let Ruling { decision, reason, rule } = ruling;
        Weighed { judged: Judged { words: shown, program, decision, reason, rule }, suggest }
    }

    fn objection_by_rule(&self, words: &[Word], file: Option<&Path>) -> Option<Ruling> {
        let name = words.first().and_then(Word::text).filter(|name| !self.is_function(name))?;
        let real = || file.and_then(|file| file.canonicalize().ok()).filter(|file| !is_many_in_one(file));
        let is_file_of = |other: &str| {
            let other = self.policy.path.find(other).and_then(|file| file.canonicalize().ok());
            other.is_some() && other == real()
        };
        self.policy.rules.objection(&Program { base: base_name(name), is_file_of: &is_file_of }, words)
    }

    /// Whether what cannot be read may not run.
    pub(crate) fn must_read(&self) -> bool {
        let all = self.policy.allowlist.allows_everything() || self.granted.is_some();
        !all || self.policy.rules.restrict()
    }

    /// Why the command may run, or why not, as far as it has to be allowed.
    fn allowed(&self, words: &[Word]) -> Result<Grant, Denial> {
        let free = |reason: String| Ok(Grant { reason, rule: None });
        let Some(first) = words.first() else { return free("nothing to run".into()) };
        if !self.must_read() {
            return self.grant(words, first.text().unwrap_or_default());
        }
        let advice = self.policy.advice();
        let Some(name) = first.text() else {
            return Err(
                format!("\"{}\" as a command cannot be judged before it runs; {advice}", first.raw).into()
            );
        };
        if name.starts_with('-') {
            return Err(
                format!("\"{name}\" is an option that is not known, or a strange command; {advice}").into()
            );
        }
        if self.is_function(name) {
            return free(format!("\"{name}\" is a function of this script"));
        }
        let read = self.readable(words, name);
        let grant = match self.grant(words, name) {
            // A rule would not help a command that cannot be read.
            Err(denial) if read.is_err() => return Err(Denial { suggest: None, ..denial }),
            other => other?,
        };
        read.map_err(|why| format!("{why}; {advice}"))?;
        if !self.policy.rules.restrict() && wrappers::is_interpreter(base_name(name)) {
            let reason = format!("{}; {name} is an interpreter: whatever it is given runs", grant.reason);
            return Ok(Grant { reason, ..grant });
        }
        Ok(grant)
    }

    /// Says why it cannot be known what a command does.
    fn readable(&self, words: &[Word], name: &str) -> Result<(), String> {
        if let Some((first, args)) = words.split_first() {
            self.builtin(first, name, args)?;
        }
        self.enclosed(words)?;
        if self.is_sifted(name) && words.len() > MOST_SUFFIXES {
            return Err(format!("more than {MOST_SUFFIXES} words after \"{name}\" are not looked through"));
        }
        if self.policy.rules.restrict() {
            self.handed(words)?;
        }
        Ok(())
    }

    /// Says why it cannot be known what a command of bash's own does.
    fn builtin(&self, first: &Word, name: &str, args: &[Word]) -> Result<(), String> {
        if self.survey.is_some() && is_builtin(name) {
            // Behind `command` and `builtin` bash splits what it leaves whole behind the builtin itself.
            let splits = Word { raw: String::new(), ..first.clone() };
            let command = if self.depth == 0 { first } else { &splits };
            let effects = effects(command, args)?;
            if let Some((variable, _)) = effects.assigned.iter().find(|(name, _)| decides_what_runs(name)) {
                return Err(sets(variable));
            }
        }
        if self.depth >= DEEPEST {
            return Err(format!("commands inside commands, more than {DEEPEST} deep, are not judged"));
        }
        Ok(())
    }

    /// The layer that allows this command.
    fn grant(&self, words: &[Word], name: &str) -> Result<Grant, Denial> {
        let policy = self.policy;
        if policy.allowlist.allows_everything() {
            let rule = Some(format!("* ({})", policy.allowlist.place_of("*")));
            return Ok(Grant { reason: "allowed by *".into(), rule });
        }
        if let Some(shell) = self.granted {
            return Ok(Grant { reason: format!("allowed by {shell}, which is given it"), rule: None });
        }
        if let Some(entry) = self.entry(&policy.allowlist, name) {
            let rule = Some(format!("{entry} ({})", policy.allowlist.place_of(entry)));
            return Ok(Grant { reason: format!("allowed by {entry}"), rule });
        }
        let mut rules = policy.rules.prefixes.iter();
        let allows = rules.find(|rule| {
            rule.allowed_programs(words).is_some_and(|programs| self.entry(programs, name).is_some())
        });
        match allows {
            Some(rule) => {
                Ok(Grant { reason: format!("allowed by {}", rule.title()), rule: Some(rule.title()) })
            }
            None => Err(self.not_allowed(words, name)),
        }
    }

    /// The entry of a list that this name matches.
    fn entry<'b>(&self, list: &'b crate::Allowlist, name: &str) -> Option<&'b str> {
        if self.survey.is_some() && needs_the_shell(name) && list.names(name) {
            return list.entries().iter().map(String::as_str).find(|entry| *entry == name);
        }
        list.entry_for(name, &self.policy.path, self.cwd)
    }

    fn not_allowed(&self, words: &[Word], name: &str) -> Denial {
        let list = &self.policy.allowlist;
        if name.contains('/') && against(name, self.cwd).is_none() {
            let advice = self.policy.advice();
            return format!("\"{name}\" depends on a directory that is only known when it runs; {advice}")
                .into();
        }
        let listing = list.listing();
        let reason = format!(
            "command \"{name}\" is not allowed; allowed commands: {listing} (set ALLOWED_COMMANDS to change this)"
        );
        let rule = Some(format!("not among the allowed commands ({})", list.place_of(name)));
        Denial { reason, rule, suggest: suggest::rule_for(words, self.cwd) }
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
}

fn is_many_in_one(file: &Path) -> bool {
    file.file_name().is_some_and(|name| MANY_IN_ONE.iter().any(|many| name == *many))
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
