//! A built-in list of attacks, to be tried against an operator's own rules.
//!
//! Each is a line that tries to run a program that nobody allowed, or to have an allowed one load other code. Nothing is
//! executed: the lines are judged as a caller's would be.

use std::path::Path;

use runward_model::{Decision, Verdict, Work};

use crate::rules::Blocked;
use crate::{Policy, read};

/// The program that the attacks try to run.
const CANARY: &str = "canary";

/// One attack a line; `␤` stands for a newline, lines that start with `## ` name a group.
const SMUGGLING: &str = include_str!("../data/smuggling.txt");
const BUILTINS: &str = include_str!("../data/builtins.txt");
const TOLD: &str = include_str!("../data/told.txt");

/// Programs that attacks stand beside; others take their places where they are not allowed.
const CARRIERS: [&str; 3] = ["ls", "cat", "echo"];

/// A line that tries to run what nobody allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// What it has in common with others.
    pub group: &'static str,
    /// The line, as a caller would give it.
    pub line: String,
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
    /// Those that would get through, in the order of the list.
    pub through: Vec<Breach>,
}

/// Every attack, as the list has it.
pub fn attacks() -> Vec<Attack> {
    [SMUGGLING, BUILTINS, TOLD].into_iter().flat_map(listed).collect()
}

impl Policy {
    /// Tries every attack against these rules. Where everything is allowed and some commands are blocked, the program
    /// that the attacks try to run counts as blocked.
    pub fn withstand(&self) -> Trial {
        let mut policy = self.clone();
        if self.restricts() && self.allowlist.allows_everything() {
            policy.rules.blocked.extend(Blocked::parse(CANARY, "the attack itself"));
        }
        let all: Vec<Attack> = attacks().into_iter().filter(|attack| policy.concerns(attack)).collect();
        let through = all.iter().filter_map(|attack| policy.breach(attack)).collect();
        Trial { attacks: all.len(), through }
    }

    /// Whether an attack could show anything. Where everything is allowed, only a program that is blocked is at stake.
    fn concerns(&self, attack: &Attack) -> bool {
        let blocks_only = self.restricts() && self.allowlist.allows_everything();
        !blocks_only || attack.line.contains(CANARY)
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
        listed.chain(ruled).find(|line| self.allows(line))
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
            None => attacks.push(Attack { group, line: line.replace('␤', "\n") }),
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
