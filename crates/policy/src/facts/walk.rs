//! Goes through a tree in the order in which bash would run it, and follows which variables hold numbers.
//!
//! A name is known to hold a number only where an assignment certainly ran before: on the same way through branches and
//! loops, not in a subshell, not in front of a command. An arithmetic error makes bash leave out the rest of the line and
//! go on with the next one, so a line in which something may fail gives no knowledge to the lines behind it.

use std::collections::HashSet;

use runward_script::{AndOr, Connector, Item, List, Pipeline};

use super::Fact;
use super::known::{Known, Mark};
use super::settle::Doubts;
use super::whole::Whole;
use crate::variables::{is_never_a_number, is_tame_locale};

/// Why what a script does cannot be known.
pub(super) type Walked = Result<(), String>;

pub(super) struct Walker<'a> {
    pub(super) facts: Vec<Fact>,
    pub(super) known: Known,
    /// Variables that were given something else than a number.
    pub(super) texts: HashSet<String>,
    /// Variables that were made arrays.
    pub(super) arrays: HashSet<String>,
    /// What the script does anywhere; `None` while that is gathered.
    pub(super) whole: Option<&'a Whole>,
    pub(super) in_function: bool,
    /// Whether something in the current entry may fail so that bash leaves out the rest of its line.
    pub(super) may_fail: bool,
    /// The last line on which a command begins.
    pub(super) line: usize,
    /// Whether a handler may run between any two commands.
    pub(super) interrupted: bool,
    /// What is evaluated and not certain to be a number.
    pub(super) doubts: Doubts,
}

impl<'a> Walker<'a> {
    pub(super) fn new(whole: Option<&'a Whole>) -> Self {
        Walker {
            facts: Vec::new(),
            known: Known::default(),
            texts: HashSet::new(),
            arrays: HashSet::new(),
            whole,
            in_function: false,
            may_fail: false,
            line: 0,
            interrupted: false,
            doubts: Doubts::default(),
        }
    }

    /// A whole script, line by line.
    pub(super) fn script(&mut self, list: &List) -> Walked {
        let mut line = self.known.mark();
        let mut failing = false;
        for item in list {
            if item.and_or.first.first.line.0 > self.line {
                self.end_line(line, failing);
                (line, failing) = (self.known.mark(), false);
            }
            let before = self.known.mark();
            self.may_fail = false;
            self.item(item)?;
            self.end_line(before, self.may_fail);
            failing |= self.may_fail;
        }
        Ok(())
    }

    fn end_line(&mut self, since: Mark, failing: bool) {
        if failing {
            self.known.drop_gains(since);
        }
    }

    pub(super) fn list(&mut self, list: &List) -> Walked {
        list.iter().try_for_each(|item| self.item(item))
    }

    fn item(&mut self, Item { and_or, background }: &Item) -> Walked {
        if *background { self.apart(|this| this.and_or(and_or)) } else { self.and_or(and_or) }
    }

    /// In a process of its own, whose variables nobody else sees.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Self) -> Walked) -> Walked {
        let mark = self.known.mark();
        let walked = walk(self);
        self.known.roll_back(mark);
        walked
    }

    /// Where it may not run, or not to its end.
    pub(super) fn perhaps(&mut self, walk: impl FnOnce(&mut Self) -> Walked) -> Walked {
        let mark = self.known.mark();
        let walked = walk(self);
        self.known.drop_gains(mark);
        walked
    }

    fn and_or(&mut self, AndOr { first, rest }: &AndOr) -> Walked {
        self.pipeline(first)?;
        let mark = self.known.mark();
        let mut only_and = true;
        for (connector, pipeline) in rest {
            only_and &= *connector == Connector::And;
            if !only_and {
                self.known.drop_gains(mark);
            }
            self.pipeline(pipeline)?;
        }
        self.known.drop_gains(mark);
        Ok(())
    }

    fn pipeline(&mut self, Pipeline { timed, first, rest, .. }: &Pipeline) -> Walked {
        if timed.is_some() {
            self.facts.push(Fact::Timed);
        }
        if rest.is_empty() {
            return self.command(first);
        }
        self.apart(|this| this.command(first))?;
        rest.iter().try_for_each(|(_, command)| self.apart(|this| this.command(command)))
    }

    pub(super) fn gain(&mut self, name: &str) {
        // While the whole is gathered nothing is known, so that what is copied from a variable counts as text.
        let open = self.whole.is_some_and(|whole| !whole.fixed.contains(name));
        if open && !is_never_a_number(name) {
            self.known.gain(name);
        }
    }

    /// Notes that a variable is given a value. Shells and programs inside read in the character set that some of them name.
    pub(super) fn assigned(&mut self, name: &str, value: Option<&str>) -> Walked {
        if !is_tame_locale(name, value) {
            return Err(format!(
                "the variable \"{name}\" may only be C, POSIX or a locale in UTF-8; write that out"
            ));
        }
        self.facts.push(Fact::Assigned(name.to_owned(), value.map(str::to_owned)));
        Ok(())
    }

    pub(super) fn lose(&mut self, name: &str) {
        self.known.lose(name);
        self.texts.insert(name.to_owned());
    }

    pub(super) fn is_read_only(&self, name: &str) -> bool {
        self.whole.is_none_or(|whole| whole.read_only.contains(name))
    }

    /// Forgets every variable that may be given something else than a number in what is run again and again.
    pub(super) fn forget_texts_of(&mut self, lists: &[&List]) -> Walked {
        let Some(whole) = self.whole else { return Ok(()) };
        if !whole.functions.is_empty() {
            // Any of its commands may call one.
            self.forget_texts();
            return Ok(());
        }
        let mut walker = Walker::new(None);
        lists.iter().try_for_each(|list| walker.list(list))?;
        walker.texts.iter().for_each(|name| self.known.lose(name));
        Ok(())
    }

    /// Forgets every variable that is given something else than a number anywhere.
    pub(super) fn forget_texts(&mut self) {
        if let Some(whole) = self.whole {
            whole.texts.iter().for_each(|name| self.known.lose(name));
        }
    }
}
