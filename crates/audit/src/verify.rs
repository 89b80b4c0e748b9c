//! Walking the chain.

use std::fmt;
use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension};

use crate::{Dropped, Entry, Error, Hash, Record, Stored, Time, Trail};

/// Of how many changed records it is found out whether they stand in each other's places. Bounds memory and time.
const MOVABLE: usize = 64;

/// What a walk along the chain found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// How many records there are.
    pub records: u64,
    /// Number and hash of the last record according to the head. Kept elsewhere, it proves later that everything
    /// up to this record is as it was.
    pub head: Option<(u64, Hash)>,
    /// Which records were dropped as settings say, where any were: it begins after these.
    pub dropped: Option<(Time, Dropped)>,
    /// What is wrong, in the order of the records.
    pub faults: Vec<Fault>,
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Something that is wrong with the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// These records are not there.
    Removed(RangeInclusive<u64>),
    /// These records are not what was written under their numbers.
    Edited(RangeInclusive<u64>),
    /// The record with the first number was written under the second.
    Moved(u64, u64),
    /// This record is whole but does not follow the one before it: one of the two was written anew.
    Unlinked(u64),
    /// These records were added past the head, not by a trail.
    Added(RangeInclusive<u64>),
    /// The head does not name the last record's hash.
    HeadChanged,
    /// The head is not there, so records missing at the end cannot be noticed.
    HeadRemoved,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Removed(range) => write!(f, "{} removed", Numbers(range)),
            Fault::Edited(range) => write!(f, "{} edited", Numbers(range)),
            Fault::Moved(here, origin) => {
                write!(f, "record {here} reordered: it was written as record {origin}")
            }
            Fault::Unlinked(number) => {
                write!(f, "record {number} does not follow record {}: one of them was replaced", number - 1)
            }
            Fault::Added(range) => write!(f, "{} added after the head", Numbers(range)),
            Fault::HeadChanged => {
                f.write_str("the head does not match the last record: one of them was replaced")
            }
            Fault::HeadRemoved => f.write_str("the head was removed: records may be missing at the end"),
        }
    }
}

struct Numbers<'a>(&'a RangeInclusive<u64>);

impl fmt::Display for Numbers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.0.start(), self.0.end());
        if first == last {
            return write!(f, "record {first}");
        }
        write!(f, "records {first} to {last}")
    }
}

impl Trail {
    /// Walks the whole chain, as it is at one moment, and names everything that is wrong with it.
    /// A trail that is not there is clean and has no head.
    pub fn verify(&self) -> Result<Verification, Error> {
        let found = self.read(|connection| {
            let snapshot = connection.unchecked_transaction()?;
            walk(&snapshot)
        })?;
        Ok(found.unwrap_or_default())
    }
}

fn walk(connection: &Connection) -> rusqlite::Result<Verification> {
    let head = connection
        .query_row("SELECT count, hash FROM head", [], |row| {
            Ok((row.get(0)?, row.get(1).unwrap_or(Hash::GENESIS)))
        })
        .optional()?;
    let mut walk = Walk::default();
    let mut select = connection.prepare("SELECT number, prev, hash, body FROM record ORDER BY number")?;
    for stored in select.query_map([], Stored::from_row)? {
        walk.pass(stored?);
    }
    Ok(walk.finish(head))
}

#[derive(Default)]
struct Walk {
    records: u64,
    /// What the first record follows, where it is not the first that was ever written: number and hash.
    begins_after: Option<(u64, Hash)>,
    /// The record that says so.
    dropped: Option<(Time, Dropped)>,
    faults: Vec<Fault>,
    /// The record that was passed last: number, hash, whether it was intact.
    last: Option<(u64, Hash, bool)>,
    edited: Vec<Stored>,
}

impl Walk {
    fn pass(&mut self, stored: Stored) {
        if self.last.is_none() && stored.number > 1 {
            self.begins_after = Some((stored.number - 1, stored.prev));
        }
        let start = self.begins_after.unwrap_or((0, Hash::GENESIS));
        let (before, before_hash, before_intact) = self.last.unwrap_or((start.0, start.1, true));
        let gap = stored.number > before + 1;
        if gap {
            self.faults.push(Fault::Removed(before + 1..=stored.number - 1));
        }
        let intact = stored.is_intact();
        if intact && before_intact && !gap && stored.prev != before_hash {
            self.faults.push(Fault::Unlinked(stored.number));
        }
        self.last = Some((stored.number, stored.hash, intact));
        self.records += 1;
        if intact {
            self.note_dropped(&stored);
        } else {
            self.note_edited(stored);
        }
    }

    /// Whether it says that everything before the first record was dropped. In a body, nobody's text can look like the
    /// phase: its quotes would be escaped.
    fn note_dropped(&mut self, stored: &Stored) {
        if !stored.body.contains(r#""phase":"dropped""#) {
            return;
        }
        if let Ok(Record { time, entry: Entry::Dropped(dropped), .. }) = stored.record()
            && self.begins_after == Some((dropped.last, dropped.hash))
        {
            self.dropped = Some((time, dropped));
        }
    }

    fn note_edited(&mut self, stored: Stored) {
        match self.faults.last_mut() {
            Some(Fault::Edited(range)) if range.end() + 1 == stored.number => {
                *range = *range.start()..=stored.number;
            }
            _ => self.faults.push(Fault::Edited(stored.number..=stored.number)),
        }
        if self.edited.len() < MOVABLE {
            self.edited.push(stored);
        }
    }

    fn finish(mut self, head: Option<(u64, Hash)>) -> Verification {
        let (last, hash, intact) = self.last.unwrap_or((0, Hash::GENESIS, true));
        if let (Some((before, _)), None) = (self.begins_after, &self.dropped) {
            self.faults.insert(0, Fault::Removed(1..=before));
        }
        match head {
            None => self.faults.push(Fault::HeadRemoved),
            Some((count, _)) if count > last => self.faults.push(Fault::Removed(last + 1..=count)),
            Some((count, _)) if count < last => self.faults.push(Fault::Added(count + 1..=last)),
            Some((_, known)) if intact && known != hash => self.faults.push(Fault::HeadChanged),
            Some(_) => {}
        }
        let faults = self.faults.iter().flat_map(|fault| told_apart(fault, &self.edited)).collect();
        Verification { records: self.records, head, dropped: self.dropped, faults }
    }
}

/// The same fault, or where it covers records that stand in each other's places, one fault for each record.
fn told_apart(fault: &Fault, edited: &[Stored]) -> Vec<Fault> {
    let Fault::Edited(range) = fault else { return vec![fault.clone()] };
    let inside = edited.iter().filter(|stored| range.contains(&stored.number));
    let origins: Vec<(u64, Option<u64>)> =
        inside.map(|stored| (stored.number, origin(stored, edited))).collect();
    if origins.iter().all(|(_, origin)| origin.is_none()) {
        return vec![fault.clone()];
    }
    let named = origins.into_iter().map(|(number, origin)| match origin {
        Some(origin) => Fault::Moved(number, origin),
        None => Fault::Edited(number..=number),
    });
    let beyond = edited.last().map_or(*range.start(), |last| last.number + 1);
    let rest = (beyond <= *range.end()).then(|| Fault::Edited(beyond..=*range.end()));
    named.chain(rest).collect()
}

/// The number under which this body was written, when that is the number of another changed record: the rows changed
/// places, as a whole or only their bodies.
fn origin(stored: &Stored, edited: &[Stored]) -> Option<u64> {
    let fits = |number: u64, links: &Stored| Hash::of(links.prev, number, &stored.body) == links.hash;
    let mut others = edited.iter().filter(|other| other.number != stored.number);
    others.find(|other| fits(other.number, stored) || fits(other.number, other)).map(|other| other.number)
}
