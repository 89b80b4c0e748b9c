//! Whether something allows a command, as far as it can be read.

use crate::Allowlist;
use crate::allowlist::against;
use crate::builtin_rules::effects;
use crate::facts::Word;
use crate::sift::no_such;
use crate::suggest;
use crate::variables::{Case, sets};
use crate::viewer;
use crate::weigh::{DEEPEST, MOST_SUFFIXES, Scene, base_name};
use crate::wrappers;
use runward_script::{is_builtin, needs_the_shell};

/// Why a command may run.
pub(crate) struct Grant {
    pub(crate) reason: String,
    pub(crate) rule: Option<String>,
}

/// Why a command may not run.
pub(crate) struct Denial {
    pub(crate) reason: String,
    pub(crate) rule: Option<String>,
    pub(crate) suggest: Option<String>,
    /// The command, where nothing allows it.
    pub(crate) missing: Option<String>,
}

impl From<String> for Denial {
    fn from(reason: String) -> Self {
        Denial { reason, rule: None, suggest: None, missing: None }
    }
}

impl Scene<'_> {
    /// Whether what cannot be read may not run.
    pub(crate) fn must_read(&self) -> bool {
        let all = self.policy.allowlist.allows_everything() || self.granted.is_some();
        !all || self.policy.looks_inside()
    }

    /// Why the command may run, or why not, as far as it has to be allowed.
    pub(crate) fn allowed(&self, words: &[Word]) -> Result<Grant, Denial> {
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
        if wrappers::starts_others(base_name(name)) {
            let reason = format!("{}; {name} can start other programs by its own means", grant.reason);
            return Ok(Grant { reason, ..grant });
        }
        Ok(grant)
    }

    /// Says why it cannot be known what a command does.
    fn readable(&self, words: &[Word], name: &str) -> Result<(), String> {
        if let Some((first, args)) = words.split_first() {
            self.builtin(first, name, args)?;
        }
        if let Some(link) = self.link_by_viewer(name).filter(|_| !self.is_guessed()) {
            return Err(viewer::advice(name, &link));
        }
        if let Some(link) = self.link_to_turn(name).filter(|_| !self.is_guessed()) {
            return Err(viewer::advice_to_turn(name, &link));
        }
        self.enclosed(words)?;
        if self.policy.rules.restrict() && !self.is_guessed() && self.is_missing(name) {
            return Err(no_such(name));
        }
        if self.is_sifted(name) && words.len() > MOST_SUFFIXES {
            return Err(format!("more than {MOST_SUFFIXES} words after \"{name}\" are not looked through"));
        }
        if self.policy.looks_inside() {
            self.handed(words)?;
        }
        if self.policy.rules.restrict()
            && let Some(why) = wrappers::starts(&self.meant(name), words.get(1..).unwrap_or_default())
        {
            return Err(why);
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
            for (variable, _) in &effects.assigned {
                let value = args
                    .iter()
                    .find_map(|arg| arg.text()?.strip_prefix(variable.as_str())?.strip_prefix('='));
                if self.policy.is_tame_program(variable, value) {
                    continue;
                }
                if let Some(entry) = self.policy.objection_to_setting(variable, Case::AsPrograms) {
                    return Err(sets(variable, entry));
                }
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
        let files = self.case.asker.files;
        let mut rules = policy.rules.prefixes.iter().filter(|rule| rule.holds_for(files));
        let allows = rules.find(|rule| {
            rule.allowed_programs(words).is_some_and(|programs| self.entry(programs, name).is_some())
        });
        match allows {
            Some(rule) => {
                Ok(Grant { reason: format!("allowed by {}", rule.title()), rule: Some(rule.title()) })
            }
            None if self.is_free(words, name) => {
                Ok(Grant { reason: format!("{name} is bash's own and starts nothing itself"), rule: None })
            }
            None => Err(self.not_allowed(words, name)),
        }
    }

    /// The entry of a list that this name matches.
    fn entry<'b>(&self, list: &'b Allowlist, name: &str) -> Option<&'b str> {
        if self.survey.is_some() && needs_the_shell(name) && list.names(name) {
            return list.entries().iter().map(String::as_str).find(|entry| *entry == name);
        }
        let held = self.held().filter(|_| name.contains('/'));
        match held {
            Some(held) => list.entry_at(held.place(), name, &self.policy.path),
            None => list.entry_for(name, &self.policy.path, self.cwd),
        }
    }

    fn not_allowed(&self, words: &[Word], name: &str) -> Denial {
        let list = &self.policy.allowlist;
        if name.contains('/') && against(name, self.cwd).is_none() {
            let advice = self.policy.advice();
            return format!("\"{name}\" depends on a directory that is only known when it runs; {advice}")
                .into();
        }
        let reason = format!("command \"{name}\" is not allowed");
        let rule = Some(format!("not among the allowed commands ({})", list.place_of(name)));
        Denial { reason, rule, suggest: suggest::rule_for(words, self.cwd), missing: Some(name.to_owned()) }
    }
}
