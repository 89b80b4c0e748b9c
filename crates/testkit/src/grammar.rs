//! Bash as a grammar, and scripts made from it at random.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

const BASH: &str = include_str!("../data/bash.txt");

/// Deeper inside, the first way to write a rule is taken.
const DEEPEST: usize = 14;

/// Whether a script has to come out the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calm {
    /// It does.
    Yes,
    /// It may print times or process numbers, or run things beside each other.
    No,
}

/// Chance that can be had again: the same seed gives the same numbers (`SplitMix64`).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Begins with this seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    /// Begins where `PROPTEST_RNG_SEED` says, which property tests obey as well, or else anywhere. Different streams of one
    /// seed have nothing in common.
    pub fn thrown(stream: u64) -> Self {
        let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok());
        let mut dice = Dice(seed.unwrap_or_else(|| RandomState::new().hash_one(0)));
        Dice(dice.throw() ^ Dice(stream).throw())
    }

    /// The next number.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Rules by their names.
#[derive(Debug)]
pub struct Grammar(BTreeMap<&'static str, Vec<Way>>);

/// One way to write a rule.
#[derive(Debug)]
struct Way {
    calm: bool,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Rule(&'static str),
}

impl Grammar {
    /// The grammar of scripts.
    pub fn bash() -> &'static Self {
        static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| Grammar::read(BASH));
        &GRAMMAR
    }

    fn read(text: &'static str) -> Self {
        let mut rules: BTreeMap<&str, Vec<Way>> = BTreeMap::new();
        let mut name = "";
        for line in text.lines().filter(|line| !line.is_empty()) {
            match line.strip_prefix("## ") {
                Some(rule) => name = rule,
                // The text before the first rule says how to read the others.
                None if name.is_empty() => {}
                None => rules.entry(name).or_default().extend(ways(line)),
            }
        }
        Grammar(rules)
    }

    /// A script.
    pub fn script(&self, dice: &mut Dice, calm: Calm) -> String {
        self.from("script", dice, calm)
    }

    /// What a rule of this name stands for.
    pub fn from(&self, rule: &str, dice: &mut Dice, calm: Calm) -> String {
        let mut out = String::new();
        self.write(rule, dice, calm, 0, &mut out);
        out
    }

    fn write(&self, rule: &str, dice: &mut Dice, calm: Calm, depth: usize, out: &mut String) {
        let ways = self.0.get(rule).unwrap_or_else(|| panic!("no rule {rule:?}"));
        let way = loop {
            let way = if depth > DEEPEST { &ways[0] } else { dice.one_of(ways) };
            if way.calm || calm == Calm::No {
                break way;
            }
        };
        for piece in &way.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Rule(name) => self.write(name, dice, calm, depth + 1, out),
            }
        }
    }
}

/// One line: a way as often as its weight says.
fn ways(line: &'static str) -> Vec<Way> {
    let weight = line.split_once("× ").and_then(|(weight, rest)| Some((weight.parse().ok()?, rest)));
    let (weight, line) = weight.unwrap_or((1, line));
    let (calm, line) = line.strip_prefix("~ ").map_or((true, line), |line| (false, line));
    let pieces = pieces(line);
    (0..weight).map(|_| Way { calm, pieces: pieces.clone() }).collect()
}

fn pieces(line: &'static str) -> Vec<Piece> {
    let text = |text: &str| Piece::Text(text.replace('␤', "\n").replace('␉', "\t").replace('␍', "\r"));
    let mut parts = line.split('‹');
    let mut pieces = vec![text(parts.next().unwrap())];
    for part in parts {
        let (rule, rest) = part.split_once('›').unwrap_or_else(|| panic!("‹ is not closed: {line}"));
        pieces.push(Piece::Rule(rule));
        pieces.push(text(rest));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_there_and_comes_to_an_end() {
        let grammar = Grammar::bash();
        for (name, ways) in &grammar.0 {
            assert!(ways[0].calm, "{name}: the first way has to be calm");
            for piece in ways.iter().flat_map(|way| &way.pieces) {
                assert!(
                    !matches!(piece, Piece::Rule(rule) if !grammar.0.contains_key(rule)),
                    "{name}: {piece:?}"
                );
            }
            for seed in 0..50 {
                grammar.from(name, &mut Dice::new(seed), Calm::No);
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_script() {
        let script = |seed| Grammar::bash().script(&mut Dice::new(seed), Calm::Yes);
        assert_eq!(script(7), script(7));
        assert!((0..20).any(|seed| script(seed) != script(7)));
    }
}
