//! One command against every layer.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use runward_model::{Decision, Judged, Profile};

use crate::Held;
use crate::allow::{Denial, Grant};
use crate::allowlist::against;
use crate::facts::{Fact, Word};
use crate::judge::{Case, Policy};
use crate::rules::{Program, Ruling};
use crate::survey::Survey;
use crate::wrappers::{self, Enclosed};
use runward_script::is_builtin;

/// Wrappers inside wrappers, deeper than this, are refused.
pub(crate) const DEEPEST: usize = 16;

/// A program that starts its words may have so many of them, since each is looked at as the beginning of a command.
pub(crate) const MOST_SUFFIXES: usize = 256;

/// Files that are many programs, by the name that they are called by.
const MANY_IN_ONE: &[&str] = &["busybox", "coreutils", "toybox"];

/// Where a command stands.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) policy: &'a Policy,
    /// The directory that it runs in; `None` when that is not known.
    pub(crate) cwd: Option<&'a Path>,
    /// The script around it, if bash runs it.
    pub(crate) survey: Option<&'a Survey>,
    /// The shell around it, if it is in the text that an allowed one is given.
    pub(crate) granted: Option<&'a str>,
    pub(crate) sifting: Sifting,
    pub(crate) depth: usize,
    pub(crate) case: &'a Case<'a>,
    /// Variables that the script and wrappers around it set.
    pub(crate) set: Option<&'a Setting<'a>>,
}

/// Variables that a script or a wrapper sets, and those that are set around it.
pub(crate) struct Setting<'a> {
    pub(crate) names: &'a [String],
    pub(crate) outer: Option<&'a Setting<'a>>,
}

/// Whether a command was found by looking at every word of another one. What is inside such a command is looked at by
/// itself, as another of those words, and need not be followed twice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sifting {
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
    /// The command, where nothing allows it.
    pub(crate) missing: Option<String>,
}

impl<'a> Scene<'a> {
    /// A program that is executed without a shell.
    pub(crate) fn direct(policy: &'a Policy, cwd: &'a Path, case: &'a Case<'a>) -> Self {
        let sifting = Sifting::No;
        Scene { policy, cwd: Some(cwd), survey: None, granted: None, sifting, depth: 0, case, set: None }
    }

    /// Judges everything that a script does.
    pub(crate) fn weigh_script(&self, facts: &[Fact], weighed: &mut Vec<Weighed>) {
        let survey = Survey::of(facts);
        let cwd = self.cwd.filter(|_| !survey.moves);
        let names: Vec<String> = survey.variables.iter().cloned().collect();
        let set = Setting { names: &names, outer: self.set };
        let scene = Scene { cwd, survey: Some(&survey), set: Some(&set), ..*self };
        for fact in facts {
            match fact {
                Fact::Command(words) => scene.weigh(words, weighed),
                Fact::Timed => scene.weigh_keyword("time", weighed),
                Fact::Input(words, text) => weighed.extend(scene.objection_to_input(words, text)),
                Fact::Function(name) => weighed.extend(scene.objection_to_function(name)),
                Fact::Assigned(name, value) => {
                    weighed.extend(scene.objection_to_variable(name, value.as_deref()));
                }
                Fact::Counted { name, known } => weighed.extend(scene.objection_to_counting(name, *known)),
            }
        }
    }

    /// Judges a command and the commands inside its arguments.
    pub(crate) fn weigh(&self, words: &[Word], weighed: &mut Vec<Weighed>) {
        let name = words.first().and_then(Word::text).unwrap_or_default();
        let program = self.program(name);
        let found = self.strictest(words, program, self.allowed(words));
        weighed.push(self.narrowed_by_rego(words, found));
        if self.depth >= DEEPEST {
            return;
        }
        // What is inside is worth naming even where everything is allowed, as far as it can be read.
        for enclosed in &self.enclosed(words).unwrap_or_default() {
            let set = Setting { names: &enclosed.variables, outer: self.set };
            Scene { set: Some(&set), ..self.inside(enclosed) }.weigh_enclosed(enclosed, weighed);
        }
        self.sift(name, words, weighed);
        if self.sifting == Sifting::Inside {
            return;
        }
        if let Ok(Some(facts)) = self.handed(words) {
            // Whoever is allowed a shell is allowed what it is given, unless a rule forbids that.
            Scene { granted: Some(name), sifting: Sifting::No, depth: self.depth + 1, ..*self }
                .weigh_script(&facts, weighed);
        }
    }

    /// Judges a word of the grammar that rules may know by its name.
    fn weigh_keyword(&self, name: &str, weighed: &mut Vec<Weighed>) {
        let words = [Word::known(name)];
        let reason = format!("{name} is bash's own and starts nothing itself");
        let found = self.strictest(&words, None, Ok(Grant { reason, rule: None }));
        weighed.push(self.narrowed_by_rego(&words, found));
    }

    fn weigh_enclosed(&self, enclosed: &Enclosed, weighed: &mut Vec<Weighed>) {
        weighed.extend(enclosed.variables.iter().filter_map(|name| self.objection_to_variable(name, None)));
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

    pub(crate) fn enclosed(&self, words: &[Word]) -> Result<Vec<Enclosed>, String> {
        let Some((first, args)) = words.split_first() else { return Ok(Vec::new()) };
        let Some(name) = first.text() else { return Ok(Vec::new()) };
        if self.is_function(name) {
            return Ok(Vec::new());
        }
        wrappers::enclosed(&self.meant(name), args)
    }

    /// The name that says how a program takes its words: its own, or that of its file where another name hides it.
    pub(crate) fn meant<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let base = base_name(name);
        if wrappers::is_known(base) || !self.policy.looks_inside() {
            return base.into();
        }
        let file = self.program(name).and_then(|file| self.real(&file));
        let file = file.filter(|file| !is_many_in_one(file));
        let other = file.and_then(|file| Some(file.file_name()?.to_str()?.to_owned()));
        other.filter(|other| wrappers::is_known(other)).map_or(base.into(), Cow::Owned)
    }

    /// What the text that it hands to a shell does.
    pub(crate) fn handed(&self, words: &[Word]) -> Result<Option<Vec<Fact>>, String> {
        let Some((first, args)) = words.split_first() else { return Ok(None) };
        let name = first.text().filter(|name| !self.is_function(name));
        name.map_or(Ok(None), |name| wrappers::handed(&self.meant(name), args))
    }

    /// Everything that is said of a command, of which the strictest counts.
    fn strictest(&self, words: &[Word], program: Option<PathBuf>, allowed: Result<Grant, Denial>) -> Weighed {
        let objection = self.objection_by_rule(words, program.as_deref());
        let shown = words.iter().map(Word::shown).collect();
        let (ruling, suggest, missing) = match (allowed, objection) {
            (_, Some(ruling)) if ruling.decision == Decision::Deny => (ruling, None, None),
            (Err(Denial { reason, rule, suggest, missing }), objection) => {
                let suggest = suggest.filter(|_| objection.is_none());
                (Ruling { decision: Decision::Deny, reason, rule }, suggest, missing)
            }
            (Ok(_), Some(ruling)) => (ruling, None, None),
            (Ok(Grant { reason, rule }), None) => {
                (Ruling { decision: Decision::Allow, reason, rule }, None, None)
            }
        };
        let Ruling { decision, reason, rule } = ruling;
        let profile = self.profile_by_rule(words, program.as_deref());
        let judged = Judged { words: shown, program, decision, reason, rule, profile };
        Weighed { judged, suggest, missing }
    }

    /// The same once the rules in Rego have been asked, unless it is denied anyway.
    fn narrowed_by_rego(&self, words: &[Word], found: Weighed) -> Weighed {
        if self.policy.rego.is_none() {
            return found;
        }
        let Weighed { judged, missing, .. } = found;
        let open = judged.decision != Decision::Deny || self.case.traces.is_some();
        let ruling = open.then(|| self.ruling_by_rego(words, judged.program.as_deref())).flatten();
        let stricter =
            |ruling: &Ruling| ruling.decision > judged.decision || judged.decision == Decision::Allow;
        let wanted = ruling.as_ref().and_then(|(_, profile)| *profile);
        let profile = judged.profile.into_iter().chain(wanted).min();
        let judged = Judged { profile, ..judged };
        let judged = match ruling.map(|(ruling, _)| ruling).filter(stricter) {
            Some(Ruling { decision, reason, rule }) => Judged { decision, reason, rule, ..judged },
            None => judged,
        };
        // A rule of another layer would not make the rules in Rego allow it.
        let missing = missing.filter(|_| judged.decision == Decision::Deny);
        Weighed { judged, suggest: None, missing }
    }

    /// Whether it was found by looking at every word of another command.
    pub(crate) fn is_guessed(&self) -> bool {
        self.sifting != Sifting::No
    }

    fn objection_by_rule(&self, words: &[Word], file: Option<&Path>) -> Option<Ruling> {
        self.policy.rules.objection(&self.ruled(words, file)?, words)
    }

    fn profile_by_rule(&self, words: &[Word], file: Option<&Path>) -> Option<Profile> {
        self.policy.rules.profile(&self.ruled(words, file)?, words)
    }

    /// What rules are held against, where there are any that matter.
    fn ruled<'w>(&self, words: &'w [Word], file: Option<&Path>) -> Option<Program<'w>> {
        let name = words.first().and_then(Word::text).filter(|name| !self.is_function(name))?;
        if !self.policy.rules.restrict() {
            return None;
        }
        let file = file.and_then(|file| self.real(file)).filter(|file| !is_many_in_one(file));
        Some(Program { base: base_name(name), file })
    }

    pub(crate) fn is_function(&self, name: &str) -> bool {
        self.survey.is_some_and(|survey| survey.functions.contains(name))
    }

    /// The file that will be executed, where this command is the one that it is for.
    pub(crate) fn held(&self) -> Option<&'a Held> {
        self.case.asker.held.filter(|_| self.depth == 0 && self.survey.is_none())
    }

    /// Where a program really lies. What is held was looked up once and for all.
    fn real(&self, file: &Path) -> Option<PathBuf> {
        let held = self.held().filter(|held| held.path() == file);
        held.map_or_else(|| file.canonicalize().ok(), |held| Some(held.real().to_owned()))
    }

    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        if let Some(held) = self.held() {
            return Some(held.path().to_owned());
        }
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

/// The name of a program without its directories.
pub(crate) fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
