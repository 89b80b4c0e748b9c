//! Where scripts come from.

use proptest::strategy::{BoxedStrategy, Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use runward_testkit::{Calm, Dice, Grammar};

use crate::scripts::{damaged, soup, well_formed};

/// What damage is done with.
const SIGNS: [&str; 24] = [
    "'", "\"", "\\", "`", "$", "(", ")", "{", "}", "#", ";", "&", "|", "<", ">", "\n", " ", "[", "]", "=",
    "!", "((", "\r", "é",
];

pub(super) struct Source {
    dice: Dice,
    runner: TestRunner,
    others: Vec<BoxedStrategy<String>>,
}

impl Source {
    pub(super) fn new(stream: u64) -> Self {
        let mut dice = Dice::thrown(stream);
        let rng_seed = RngSeed::Fixed(dice.throw());
        Source {
            dice,
            runner: TestRunner::new(Config { rng_seed, ..Config::default() }),
            others: vec![soup().boxed(), well_formed().boxed(), damaged().boxed()],
        }
    }

    /// The next script, and what its surroundings are thrown with.
    pub(super) fn script(&mut self) -> (String, &mut Dice) {
        let text = match self.dice.below(20) {
            0..12 => self.grown(),
            12..15 => {
                let text = self.grown();
                self.damaged(&text)
            }
            // What another shell is given runs as it stands.
            15 => format!("bash -c '{}'", self.grown().replace('\'', "'\\''")),
            16 => {
                let (first, second) = (self.grown(), self.grown());
                self.spliced(&first, &second)
            }
            _ => self.other(),
        };
        (text, &mut self.dice)
    }

    fn grown(&mut self) -> String {
        Grammar::bash().script(&mut self.dice, Calm::No)
    }

    fn other(&mut self) -> String {
        let which = self.dice.below(self.others.len());
        self.others[which].new_tree(&mut self.runner).unwrap().current()
    }

    fn damaged(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..=self.dice.below(3) {
            let at = self.dice.below(chars.len() + 1);
            let end = (at + self.dice.below(3)).min(chars.len());
            let sign = if self.dice.below(3) == 0 { "" } else { self.dice.one_of(&SIGNS) };
            chars.splice(at..end, sign.chars());
        }
        chars.into_iter().collect()
    }

    /// The beginning of one and the end of another.
    fn spliced(&mut self, first: &str, second: &str) -> String {
        let (first, second): (Vec<char>, Vec<char>) = (first.chars().collect(), second.chars().collect());
        let (until, from) = (self.dice.below(first.len() + 1), self.dice.below(second.len() + 1));
        first[..until].iter().chain(&second[from..]).collect()
    }
}
