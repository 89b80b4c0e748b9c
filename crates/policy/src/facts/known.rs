//! Which variables are certain to hold a number at a point of the flow.
//!
//! Every change is written down, so that what a subshell did can be taken back and what a branch gained can be dropped.

use std::collections::{BTreeSet, HashSet};

/// The variables that are certain to hold a number.
#[derive(Debug, Default)]
pub(super) struct Known {
    names: HashSet<String>,
    changes: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    name: String,
    gained: bool,
}

/// A point of the flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark(usize);

/// What became of variables between two points of the flow.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) gained: BTreeSet<String>,
    pub(super) lost: BTreeSet<String>,
}

impl Known {
    pub(super) fn holds(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn gain(&mut self, name: &str) {
        if self.names.insert(name.to_owned()) {
            self.changes.push(Change { name: name.to_owned(), gained: true });
        }
    }

    pub(super) fn lose(&mut self, name: &str) {
        if self.names.remove(name) {
            self.changes.push(Change { name: name.to_owned(), gained: false });
        }
    }

    pub(super) fn lose_all(&mut self) {
        let names: Vec<String> = self.names.iter().cloned().collect();
        for name in &names {
            self.lose(name);
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.changes.len())
    }

    /// Loses whatever was gained since.
    pub(super) fn drop_gains(&mut self, Mark(since): Mark) {
        let gained = self.changes.get(since..).unwrap_or_default().iter().filter(|change| change.gained);
        let names: Vec<String> = gained.map(|change| change.name.clone()).collect();
        for name in &names {
            self.lose(name);
        }
    }

    /// Takes back whatever happened since.
    pub(super) fn roll_back(&mut self, Mark(since): Mark) {
        for Change { name, gained } in self.changes.drain(since.min(self.changes.len())..).rev() {
            if gained {
                self.names.remove(&name)
            } else {
                self.names.insert(name)
            };
        }
    }

    /// What is different since.
    pub(super) fn since(&self, Mark(since): Mark) -> Difference {
        let mut difference = Difference::default();
        let mut seen = HashSet::new();
        for Change { name, gained } in self.changes.get(since..).unwrap_or_default() {
            // The first change tells how it was before.
            if !seen.insert(name) {
                continue;
            }
            match (gained, self.holds(name)) {
                (true, true) => difference.gained.insert(name.clone()),
                (false, false) => difference.lost.insert(name.clone()),
                _ => continue,
            };
        }
        difference
    }
}
