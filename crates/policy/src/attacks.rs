//! A built-in list of attacks, to be tried against an operator's own rules.
//!
//! Each is a line that tries to run a program that nobody allowed, or to have an allowed one load other code. Where
//! rules block commands, each of those is tried in the same places and in every spelling. Nothing is executed: the
//! lines are judged as a caller's would be.

mod aim;

use std::path::Path;

use runward_model::{Decision, Verdict, Work};

use crate::{Policy, read};

/// The program that the attacks try to run.
const CANARY: &str = "canary";

/// One attack a line; `␤` stands for a newline, lines that start with `## ` name a group.
const SMUGGLING: &str = include_str!("../data/smuggling.txt");
const BUILTINS: &str = include_str!("../data/builtins.txt");
const CARRYING: &str = include_str!("../data/carriers.txt");
const TOLD: &str = include_str!("../data/told.txt");

/// The group of lines that spell a name in ways that a shell undoes.
const SPELLINGS: &str = "spellings of a name";

/// Programs that attacks stand beside; others take their places where they are not allowed.
const CARRIERS: [&str; 3] = ["ls", "cat", "echo"];

/// What takes their places where everything is allowed but some of them are blocked.
const OTHER_CARRIERS: [&str; 4] = ["true", "id", "date", "uname"];

/// A line that tries to run what nobody allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// What it has in common with others.
    pub group: &'static str,
    /// The line, as a caller would give it.
    pub line: String,
    /// The rule that it tries to get around, and where that stands; none when it is any program that nobody allowed.
    pub aim: Option<String>,
}

/// An attack that the rules let through.
#[derive(Clone, Debug)]
pub struct Breach {
    /// Which.
    pub attack: Attack,
    /// Why it was let through.
    pub verdict: Verdict,
}

/// How rules stood up to the attacks.
#[derive(Clone, Debug)]
pub struct Trial {
    /// How many attacks were tried.
    pub attacks: usize,
    /// How many blocked commands some of them were aimed at.
    pub targets: usize,
    /// Those that would get through, in the order of the list.
    pub through: Vec<Breach>,
}

/// Every attack, as the list has it.
pub fn attacks() -> Vec<Attack> {
    [SMUGGLING, BUILTINS, CARRYING, TOLD].into_iter().flat_map(listed).collect()
}

impl Policy {
    /// Tries every attack against these rules: with a program that nobody allowed, unless everything is, and with each
    /// command that a rule is against and something else allows.
    pub fn withstand(&self) -> Trial {
        let listed = attacks();
        let targets = self.targets();
        let mut all: Vec<Attack> =
            targets.iter().flat_map(|target| target.attacks(&listed, &self.path)).collect();
        if !self.allowlist.allows_everything() || !self.restricts() {
            all.splice(0..0, listed);
        }
        let through = all.iter().filter_map(|attack| self.breach(attack)).collect();
        Trial { attacks: all.len(), through, targets: targets.len() }
    }

    /// Whether rules block commands by what they look like, which no attack can be made from.
    pub fn has_patterns(&self) -> bool {
        !self.rules.patterns.is_empty()
    }

    fn breach(&self, attack: &Attack) -> Option<Breach> {
        let attack = Attack { line: self.with_own_carriers(&attack.line), ..attack.clone() };
        let reading = read(&Work::Line(attack.line.clone())).ok()?;
        let verdict = self.judge(&reading, Path::new("/"));
        (verdict.decision == Decision::Allow).then_some(Breach { attack, verdict })
    }

    /// The same line beside programs that these rules allow, since it would be refused for the others' sake else.
    fn with_own_carriers(&self, line: &str) -> String {
        let Some(own) = self.carrier() else { return line.to_owned() };
        let mut line = line.to_owned();
        for carrier in CARRIERS.into_iter().filter(|carrier| !self.allows(carrier)) {
            line = with_word(&line, carrier, &own);
        }
        line
    }

    /// A command that these rules allow.
    fn carrier(&self) -> Option<String> {
        let listed = self.allowlist.entries().iter().cloned();
        let ruled = self.rules.prefixes.iter().filter_map(crate::PrefixRule::allowed_line);
        let others = OTHER_CARRIERS.iter().map(|&name| name.to_owned());
        listed.chain(ruled).chain(others).find(|line| self.allows(line))
    }

    fn allows(&self, line: &str) -> bool {
        let reading = read(&Work::Line(line.to_owned()));
        reading.is_ok_and(|reading| self.judge(&reading, Path::new("/")).decision == Decision::Allow)
    }
}

fn listed(text: &'static str) -> Vec<Attack> {
    let mut group = "";
    let mut attacks = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("## ") {
            Some(name) => group = name,
            None => attacks.push(Attack { group, line: line.replace('␤', "\n"), aim: None }),
        }
    }
    attacks
}

/// Replaces a word where it stands alone.
fn with_word(line: &str, word: &str, by: &str) -> String {
    let path = by.contains('/');
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\\') || path && c == '/';
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let after = found.get(word.len()..).unwrap_or_default();
        let before_is_part =
            before.chars().next_back().or_else(|| out.chars().next_back()).is_some_and(is_part);
        let alone = !before_is_part && !after.starts_with(is_part);
        out.push_str(before);
        out.push_str(if alone { by } else { word });
        rest = after;
    }
    out + rest
}
