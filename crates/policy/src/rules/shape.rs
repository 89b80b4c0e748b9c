//! A command as a rule describes it: a program, options in any order, and the words that follow.

use std::path::PathBuf;

use super::forms::is_version;
use super::{Fit, names};
use crate::SearchPath;
use crate::facts::{Count, Word};

/// What git has by itself, a name a line.
const GIT_COMMANDS: &str = include_str!("../../data/git_commands.txt");

/// A command as a rule describes it. Each part is a list of alternatives.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    programs: Vec<String>,
    /// The files that those names stand for, once they were looked up.
    files: Vec<PathBuf>,
    /// Each must be there, wherever it stands.
    options: Vec<Vec<String>>,
    /// These must come first among the words that are no options, in this order.
    operands: Vec<Vec<String>>,
}

/// The program of a command, under every name that it is known by.
pub(crate) struct Program<'a> {
    /// The name without directories.
    pub(crate) base: &'a str,
    /// The file itself, where that is one program only.
    pub(crate) file: Option<PathBuf>,
}

/// What the words of a command are to a rule.
#[derive(Default)]
struct Seen<'a> {
    letters: Vec<char>,
    /// Everything that begins with a dash, dashes removed; a value after `=` apart.
    words: Vec<(&'a str, Option<&'a str>)>,
    /// Whether an option may hide in a word that is not known.
    hidden: bool,
    /// The rest, and whether each may be the value of the option before it.
    operands: Vec<(&'a Word, bool)>,
}

impl Shape {
    /// The first part is the program, the others are its options and words.
    pub(super) fn new(parts: Vec<Vec<String>>) -> Self {
        let mut parts = parts.into_iter();
        let first = parts.next().unwrap_or_default();
        let programs = first.iter().map(|name| base_name(name).to_owned()).collect();
        let is_option = |part: &Vec<String>| part.iter().all(|word| word.len() > 1 && word.starts_with('-'));
        let (options, operands) = parts.partition(is_option);
        Shape { programs, files: Vec::new(), options, operands }
    }

    /// Looks up which files the programs are, so that other names for them are known too.
    pub(super) fn look_up(&mut self, path: &SearchPath) {
        let file = |name: &String| path.find(name)?.canonicalize().ok();
        self.files = self.programs.iter().filter_map(file).collect();
    }

    /// Whether a command is one of these; `words` begins with its program.
    pub(super) fn fits(&self, program: &Program<'_>, words: &[Word]) -> Fit {
        let is_named = |name: &&String| *name == program.base || is_version(program.base, name);
        let named = self.programs.iter().find(is_named);
        let is_file = || program.file.as_ref().is_some_and(|file| self.files.contains(file));
        let Some(name) = named.or_else(|| self.programs.first().filter(|_| is_file())) else {
            return Fit::No;
        };
        let seen = Seen::of(name, words.get(1..).unwrap_or_default());
        let options = self.options.iter().map(|option| seen.option(name, option)).min().unwrap_or(Fit::Yes);
        let operands = seen.operands(&self.operands);
        // Configurations that commands may write make other names of these.
        let renamed = *name == "git" && !self.operands.is_empty() && seen.may_be_alias();
        options.min(if renamed && operands == Fit::No { Fit::Maybe } else { operands })
    }
}

impl<'a> Seen<'a> {
    fn of(program: &str, words: &'a [Word]) -> Self {
        let mut seen = Seen::default();
        let (mut ended, mut after_option) = (false, false);
        // `tar xf` means `tar -xf`.
        if names::begins_with_letters(program) {
            seen.letters.extend(words.first().map(Word::prefix).unwrap_or_default().chars());
        }
        for word in words {
            let prefix = word.prefix();
            if !ended && word.text() == Some("--") && names::ends_options(program) {
                ended = true;
                after_option = false;
                continue;
            }
            let known = word.text().is_some();
            let may_be_option = !known && (prefix.is_empty() || word.count() == Count::Any);
            seen.hidden |= !ended && (may_be_option || !known && prefix.starts_with('-'));
            if !ended && prefix.len() > 1 && prefix.starts_with('-') {
                seen.take_option(program, prefix);
                after_option = !prefix.contains('=');
            } else {
                // `git push +main` is what `git push --force` is.
                if program == "git" && prefix.starts_with('+') {
                    seen.words.push(("force", None));
                }
                let hides_option = may_be_option && !ended;
                seen.operands.push((word, after_option || hides_option));
                after_option = hides_option;
            }
        }
        seen
    }

    /// Whether git may know the command that these words name by an alias only.
    fn may_be_alias(&self) -> bool {
        let until_first =
            self.operands.iter().position(|(_, may_be_value)| !may_be_value).map_or(0, |at| at + 1);
        let is_known = |(word, _): &(&Word, bool)| {
            word.text().is_none_or(|text| GIT_COMMANDS.lines().skip(1).any(|known| known == text))
        };
        until_first > 0 && !self.operands.iter().take(until_first).any(is_known)
    }

    fn take_option(&mut self, program: &str, text: &'a str) {
        let bare = text.trim_start_matches('-');
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        self.words.push((name, value));
        if !text.starts_with("--") && !names::has_words(program) {
            self.letters.extend(bare.chars());
        }
    }

    fn option(&self, program: &str, alternatives: &[String]) -> Fit {
        if alternatives.iter().any(|option| self.has(program, option)) {
            return Fit::Yes;
        }
        if self.hidden { Fit::Maybe } else { Fit::No }
    }

    fn has(&self, program: &str, option: &str) -> bool {
        let bare = option.trim_start_matches('-');
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        let same_value = |given: Option<&str>| value.is_none() || given.is_none() || given == value;
        if self.words.iter().any(|(given, with)| *given == name && same_value(*with)) {
            return true;
        }
        if option.starts_with("--") || names::has_words(program) {
            let letters = names::letters(program, name);
            return self.long(name) || letters.chars().any(|letter| self.letters.contains(&letter));
        }
        bare.chars().all(|letter| self.letter(program, letter))
    }

    /// Whether a long option is given, in full or as the beginning that getopt takes for it.
    fn long(&self, name: &str) -> bool {
        self.words.iter().any(|(given, _)| !given.is_empty() && name.starts_with(given))
    }

    fn letter(&self, program: &str, letter: char) -> bool {
        let same = |(long, letters): &(&str, &str)| {
            self.long(long) || letters.chars().any(|letter| self.letters.contains(&letter))
        };
        self.letters.contains(&letter) || names::of_letter(program, letter).any(same)
    }

    /// Whether the wanted words come first. A word that may be the value of an option may be passed over.
    fn operands(&self, wanted: &[Vec<String>]) -> Fit {
        // How well the words so far are the first so many of the wanted ones.
        let mut reached = vec![Fit::No; wanted.len() + 1];
        if let Some(none) = reached.first_mut() {
            *none = Fit::Yes;
        }
        for (word, passable) in &self.operands {
            let mut next = vec![Fit::No; reached.len()];
            for (count, fit) in reached.iter().copied().enumerate() {
                if *passable || count == wanted.len() {
                    raise(&mut next, count, fit);
                }
                if let Some(alternatives) = wanted.get(count) {
                    raise(&mut next, count + 1, fit.min(one_of(word, alternatives)));
                }
            }
            if word.count() == Count::Any && reached.iter().any(|fit| *fit != Fit::No) {
                raise(&mut next, wanted.len(), Fit::Maybe);
            }
            reached = next;
        }
        reached.last().copied().unwrap_or(Fit::No)
    }
}

fn raise(fits: &mut [Fit], at: usize, fit: Fit) {
    if let Some(found) = fits.get_mut(at) {
        *found = (*found).max(fit);
    }
}

fn one_of(word: &Word, alternatives: &[String]) -> Fit {
    match word.text() {
        Some(text) if alternatives.iter().any(|wanted| wanted == text) => Fit::Yes,
        None if alternatives.iter().any(|wanted| wanted.starts_with(word.prefix())) => Fit::Maybe,
        _ => Fit::No,
    }
}

pub(super) fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
