//! The last step: everything is written, or nothing is.
//!
//! First, all new content is written beside its place, so that a full disk or a missing permission shows while nothing has
//! changed. Then each file is exchanged with what stands there. What was exchanged stays beside it until the end, so
//! undoing brings back the very same files.

mod stage;
mod undo;

use std::ffi::{OsStr, OsString};
use std::io;

use runward_files::{Stamp, random};
use rustix::fs::{AtFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::{Error, Problem};
use crate::place::{Place, reach};
use crate::report::Report;
use crate::verify::{Deed, Step, Verified};
use undo::{Done, Undo};

impl Verified {
    /// Writes everything, or leaves everything as it was.
    pub fn apply(self) -> Result<Report, Error> {
        let mut undo = Undo::default();
        let Verified { steps, report } = self;
        match write(&steps, &mut undo) {
            Ok(()) => {
                undo.forget();
                Ok(report)
            }
            Err((named, source)) => Err(undo.roll_back(named, source)),
        }
    }
}

fn write(steps: &[Step], undo: &mut Undo) -> Result<(), (String, io::Error)> {
    let named = |step: &Step, error: io::Error| (step.named.clone(), error);
    let mut beside = Vec::with_capacity(steps.len());
    for step in steps {
        let name = beside_name();
        if let Deed::Put { content, like } = &step.deed {
            stage::stage(step, &name, content, like.as_ref(), undo).map_err(|error| named(step, error))?;
        }
        beside.push(name);
    }
    for (step, name) in steps.iter().zip(&beside) {
        commit(step, name, undo).map_err(|error| named(step, error))?;
    }
    Ok(())
}

/// Puts one file in its place, which must be as it was when it was verified.
fn commit(step: &Step, beside: &OsStr, undo: &mut Undo) -> io::Result<()> {
    let place = reach(&step.target).map_err(io::Error::other)?;
    match (&step.deed, step.was) {
        (Deed::Put { .. }, None) => put(&place, beside, step, undo),
        (Deed::Remove, Some(was)) => take_away(&place, beside, step, was, undo),
        (Deed::Put { .. }, Some(was)) => exchange(&place, beside, step, was, undo),
        (Deed::Remove, None) => Ok(()),
    }
}

fn put(place: &Place<'_>, beside: &OsStr, step: &Step, undo: &mut Undo) -> io::Result<()> {
    match rename_to_nothing(place, beside, place.name) {
        Ok(()) => undo.push(&step.target, Done::Put),
        Err(Errno::EXIST) => return Err(io::Error::other(Problem::Changed(step.target.clone()))),
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn take_away(place: &Place<'_>, beside: &OsStr, step: &Step, was: Stamp, undo: &mut Undo) -> io::Result<()> {
    rename_to_nothing(place, place.name, beside)?;
    undo.push(&step.target, Done::Taken { beside: beside.to_owned() });
    unchanged(place, beside, step, was)
}

fn exchange(place: &Place<'_>, beside: &OsStr, step: &Step, was: Stamp, undo: &mut Undo) -> io::Result<()> {
    match rustix::fs::renameat_with(
        &place.directory,
        beside,
        &place.directory,
        place.name,
        RenameFlags::EXCHANGE,
    ) {
        Ok(()) => {
            undo.push(&step.target, Done::Exchanged { beside: beside.to_owned() });
            unchanged(place, beside, step, was)
        }
        // Some file systems cannot exchange: then there is nothing in its place for a moment.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            take_away(place, &beside_name(), step, was, undo)?;
            put(place, beside, step, undo)
        }
        Err(Errno::NOENT) => Err(io::Error::other(Problem::Changed(step.target.clone()))),
        Err(error) => Err(error.into()),
    }
}

/// Whether what stood in a place, and now stands beside it, is what was verified.
fn unchanged(place: &Place<'_>, beside: &OsStr, step: &Step, was: Stamp) -> io::Result<()> {
    let is_same = Stamp::from(&place.stat(beside)?).has_content_of(&was);
    if is_same { Ok(()) } else { Err(io::Error::other(Problem::Changed(step.target.clone()))) }
}

/// Renames a file in its directory, and never over another.
fn rename_to_nothing(place: &Place<'_>, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    let directory = &place.directory;
    match rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            rustix::fs::linkat(directory, from, directory, to, AtFlags::empty())?;
            rustix::fs::unlinkat(directory, from, AtFlags::empty())
        }
        renamed => renamed,
    }
}

/// A name that nobody else has.
fn beside_name() -> OsString {
    format!(".runward-patch-{}", random::name::<8>()).into()
}
