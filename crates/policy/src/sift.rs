//! Programs that start what stands among their words, looked through where something is blocked.

use std::path::PathBuf;

use runward_model::{Decision, Judged};

use crate::allowlist::against;
use crate::facts::{Fact, Word, facts_of};
use crate::viewer;
use crate::weigh::{MOST_SUFFIXES, Scene, Sifting, Weighed};
use crate::wrappers::{self, Certain, Kind, Started};
use runward_script::is_builtin;

/// Characters behind which a command may begin inside one word: `--shell=…`, `EXEC:…`, `!…`.
const BEGINS: &[char] = &['=', ':', ',', '!', '|', '+', '\\', '%', '{', '(', '['];

/// A word is looked at from so many places.
const MOST_PLACES: usize = 16;

impl Scene<'_> {
    /// Whether every word of this program may begin a command.
    pub(crate) fn is_sifted(&self, name: &str) -> bool {
        self.policy.rules.restrict() && wrappers::starts_its_words(&self.meant(name))
    }

    /// Judges what a program could start by its words and options, and keeps the strictest objection to each.
    pub(crate) fn sift(&self, name: &str, words: &[Word], weighed: &mut Vec<Weighed>) {
        if !self.policy.rules.restrict() || self.is_guessed() || self.is_function(name) {
            return;
        }
        let meant = self.meant(name);
        let depth = self.depth + 1;
        let inside = Scene { survey: None, granted: Some(name), sifting: Sifting::Word, depth, ..*self };
        for started in wrappers::started(&meant, words.get(1..).unwrap_or_default()) {
            let found = match started {
                Started::Words(words) => inside.weighed(words),
                Started::Text(word, certain) => inside.text(word, certain, &[]),
            };
            weighed.extend(strictest(found));
        }
        match wrappers::kind(&meant) {
            _ if self.survey.is_some() && is_builtin(name) => return,
            Kind::Followed => return,
            Kind::Starter => {}
            other => return weighed.extend(inside.mixed(other, &meant, words)),
        }
        for start in 1..words.len().min(MOST_SUFFIXES) {
            let found = strictest(inside.sifted(self, &meant, words, start));
            let denied = found.as_ref().is_some_and(|one| one.judged.decision == Decision::Deny);
            weighed.extend(found);
            if denied {
                return;
            }
        }
    }

    /// What rules say of a text that a command is given to read, where it runs that.
    pub(crate) fn objection_to_input(&self, words: &[Word], text: &Word) -> Option<Weighed> {
        let rules = &self.policy.rules;
        let runs = rules.restrict() && wrappers::reads_code(words);
        let name = words.first().map(Word::prefix).unwrap_or_default();
        let scene = Scene { granted: Some(name), ..*self };
        let mentions = rules.mention(&text.raw) || text.text().is_some_and(|text| rules.mention(text));
        (runs && mentions).then(|| scene.unread("its input", "names what is blocked"))
    }

    /// What rules say of the words of a program that may start some of them: where a command may begin, and wherever
    /// options and words of a rule are there too.
    fn mixed(&self, kind: Kind, name: &str, words: &[Word]) -> Option<Weighed> {
        let named = |word: &Word| self.policy.rules.mention(word.prefix());
        let near = |start: &usize| *start < MOST_SUFFIXES || words.get(*start).is_some_and(named);
        let mut found = Vec::new();
        for start in (1..words.len()).filter(near) {
            let suffix = words.get(start..).unwrap_or_default();
            let Some((word, rest)) = suffix.split_first() else { continue };
            let begins = wrappers::may_begin(kind, name, words, start);
            if begins || !self.is_blocked_by_name(word) {
                let all = begins && kind == Kind::Tool;
                found.extend(self.weighed(suffix).into_iter().filter(|one| all || by_rule(one)));
            }
            if wrappers::begins(kind, name, words, start) {
                let followed = Scene { sifting: Sifting::No, ..*self }.weighed(suffix);
                found.extend(followed.into_iter().filter(by_rule));
            }
            if wrappers::is_text(kind, words, start) {
                found.extend(self.text(word, Certain::No, rest));
            }
            if found.iter().any(|one| one.judged.decision == Decision::Deny) {
                break;
            }
        }
        strictest(found)
    }

    /// Whether a rule is against a program whatever its words are.
    fn is_blocked_by_name(&self, word: &Word) -> bool {
        let against = |one: &Weighed| one.judged.decision != Decision::Allow || one.judged.profile.is_some();
        self.weighed(std::slice::from_ref(word)).iter().any(|one| by_rule(one) && against(one))
    }

    /// Whether anything could be started by this name.
    fn exists(&self, name: &str) -> bool {
        name.contains('/') || self.policy.path.find(name).is_some()
    }

    /// What is said of the command, or the text, that begins at one word of a program that starts its words.
    fn sifted(&self, around: &Scene<'_>, name: &str, words: &[Word], start: usize) -> Vec<Weighed> {
        let suffix = words.get(start..).unwrap_or_default();
        let Some((word, rest)) = suffix.split_first() else { return Vec::new() };
        let before = words.get(start - 1).map(Word::prefix).unwrap_or_default();
        let Some(text) = word.text() else {
            let known = self.has_program(words.get(1..start));
            let hides = wrappers::is_starter(name) && !known && !word.is_number();
            return if hides { vec![Self::hidden(word, name)] } else { Vec::new() };
        };
        let mut found = Vec::new();
        if !text.starts_with('-') {
            self.weigh(suffix, &mut found);
            // Another command of the same script may make it.
            let made = around.survey.is_some() && wrappers::is_starter(name) && self.is_missing(text);
            found.extend(made.then(|| Self::missing(text)));
            let starts = || wrappers::is_starter(name) && !self.has_program(words.get(1..start));
            let link = self.link_by_viewer(text).filter(|_| starts());
            found.extend(link.map(|link| denied(text, viewer::advice(text, &link))));
        }
        let certain = if wrappers::is_before_line(before) { Certain::Yes } else { Certain::No };
        found.extend(self.text(word, certain, rest));
        found
    }

    /// What is said of a text inside a word, wherever a command may begin in it.
    fn text(&self, word: &Word, certain: Certain, rest: &[Word]) -> Vec<Weighed> {
        let Some(text) = word.text() else {
            let unknown = certain == Certain::Yes && !word.is_number();
            return unknown
                .then(|| self.unread(word.raw.as_str(), "is only known when it runs"))
                .into_iter()
                .collect();
        };
        let joined =
            text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
        let places = text.match_indices(BEGINS).filter_map(|(at, _)| text.get(at + 1..));
        let mut found = self.line(text, certain, &[]);
        if text.matches(BEGINS).count() > MOST_PLACES && self.policy.rules.mention(text) {
            found.push(self.unread(text, "holds more than is looked through"));
        }
        for part in joined.into_iter().chain(places).take(MOST_PLACES) {
            found.extend(self.line(part.trim_start_matches(BEGINS), Certain::No, rest));
            let quoted = part.strip_prefix(['\'', '"']).and_then(|part| part.strip_suffix(['\'', '"']));
            found.extend(quoted.into_iter().flat_map(|part| self.line(part, Certain::No, &[])));
        }
        let with_commas = text.contains(',').then(|| text.replace(',', " "));
        found.extend(with_commas.into_iter().flat_map(|line| self.line(&line, Certain::No, &[])));
        found
    }

    /// What is said of a text as a line; `rest` follows where it is one word.
    fn line(&self, text: &str, certain: Certain, rest: &[Word]) -> Vec<Weighed> {
        let mut found = Vec::new();
        match facts_of(text) {
            Ok(facts) => {
                self.weigh_script(&facts, &mut found);
                let named = |one: &Weighed| one.judged.words.first().is_some_and(|name| self.exists(name));
                found.retain(|one| certain == Certain::Yes || by_rule(one) && named(one));
                for command in facts.iter().filter_map(command) {
                    for at in 1..command.len().min(MOST_SUFFIXES) {
                        let Some((word, _)) = command.get(at..).and_then(<[Word]>::split_first) else {
                            continue;
                        };
                        let behind =
                            command.get(at - 1).is_some_and(|word| wrappers::is_runner(word.prefix()));
                        if behind || !self.is_blocked_by_name(word) {
                            let suffix = self.weighed(command.get(at..).unwrap_or_default());
                            found.extend(suffix.into_iter().filter(by_rule));
                        }
                    }
                    let name = command.first().and_then(Word::text).unwrap_or_default();
                    found.extend(
                        (certain == Certain::Yes && self.is_missing(name)).then(|| Self::missing(name)),
                    );
                    let hidden = command.iter().find(|word| self.hides(word));
                    found.extend(hidden.map(|word| self.unread(&word.raw, "names what is blocked")));
                    if let [only] = command {
                        let words: Vec<Word> = std::iter::once(only).chain(rest).cloned().collect();
                        let said = self.weighed(&words).into_iter();
                        found.extend(said.filter(|one| certain == Certain::Yes || by_rule(one)));
                    }
                }
            }
            Err(why) if certain == Certain::Yes || self.policy.rules.mention(text) => {
                return vec![self.unread(text, &format!("cannot be read: {why}"))];
            }
            Err(_) => {}
        }
        found
    }

    /// Whether a word of a text is a text again, or one that is only known when it runs, and names what a rule is against.
    fn hides(&self, word: &Word) -> bool {
        let inner = word
            .text()
            .map_or(Some(word.raw.as_str()), |text| text.contains(char::is_whitespace).then_some(text));
        inner.is_some_and(|text| self.policy.rules.mention(text))
    }

    fn weighed(&self, words: &[Word]) -> Vec<Weighed> {
        let mut found = Vec::new();
        let may_start = |word: &str| !word.starts_with('-') && self.exists(word);
        if words.first().and_then(Word::text).is_some_and(may_start) {
            self.weigh(words, &mut found);
        }
        found
    }

    /// Whether any of these words is a program already, so that those behind it are its own.
    fn has_program(&self, words: Option<&[Word]>) -> bool {
        let is_program = |text: &str| !text.starts_with('-') && self.program(text).is_some();
        words.unwrap_or_default().iter().any(|word| word.text().is_some_and(is_program))
    }

    /// A link on the way to a program that leads elsewhere for whoever follows it.
    pub(crate) fn link_by_viewer(&self, name: &str) -> Option<PathBuf> {
        let file = name.contains('/').then(|| against(name, self.cwd)).flatten()?;
        viewer::link_by_viewer(&file)
    }

    /// A link on the way to a program that a command could turn after it was judged. A program that is held is executed by its
    /// descriptor, so that no way leads to it any more.
    pub(crate) fn link_to_turn(&self, name: &str) -> Option<PathBuf> {
        let policy = self.policy;
        let by_path = !policy.allowlist.allows_everything() || policy.rego.is_some();
        let file = (by_path && self.held().is_none() && name.contains('/')).then(|| against(name, self.cwd));
        policy.turnable.on_the_way(&file.flatten()?)
    }

    /// Whether this names a program by a path where nothing is yet, so that nobody knows what it will be.
    pub(crate) fn is_missing(&self, name: &str) -> bool {
        name.contains('/') && against(name, self.cwd).is_none_or(|file| !file.exists())
    }

    fn missing(name: &str) -> Weighed {
        denied(name, no_such(name))
    }

    fn hidden(word: &Word, name: &str) -> Weighed {
        denied(
            &word.raw,
            format!(
                "\"{}\" may be the command of \"{name}\" and is only known when it runs; write it out",
                word.raw
            ),
        )
    }

    fn unread(&self, text: &str, why: &str) -> Weighed {
        let name = self.granted.unwrap_or_default();
        denied(
            text,
            format!("\"{text}\" is what \"{name}\" would start, and {why}; write it so that it can be read"),
        )
    }
}

fn denied(shown: &str, reason: String) -> Weighed {
    let words = vec![shown.to_owned()];
    let decision = Decision::Deny;
    let judged = Judged { words, program: None, decision, reason, rule: None, profile: None };
    Weighed { judged, suggest: None, missing: None }
}

/// The sentence for a program that is not there when it is judged.
pub(crate) fn no_such(name: &str) -> String {
    format!(
        "there is no program at \"{name}\" yet, or its directory is only known when it runs, so it cannot be judged while some \
         commands are blocked; make it first, and name it by its whole path"
    )
}

fn command(fact: &Fact) -> Option<&[Word]> {
    match fact {
        Fact::Command(words) => Some(words),
        _ => None,
    }
}

/// Whether a rule of the operator said it, not a reader that could not read.
fn by_rule(one: &Weighed) -> bool {
    one.judged.rule.is_some() || one.judged.profile.is_some()
}

/// The strictest of several objections, with the narrowest profile that any of them wants.
fn strictest(found: Vec<Weighed>) -> Option<Weighed> {
    let narrower = found.iter().filter_map(|one| one.judged.profile).min();
    let strictest = found.into_iter().max_by_key(|one| one.judged.decision);
    let objection =
        strictest.map(|one| Weighed { judged: Judged { profile: narrower, ..one.judged }, ..one });
    objection.filter(|one| one.judged.decision != Decision::Allow || one.judged.profile.is_some())
}
