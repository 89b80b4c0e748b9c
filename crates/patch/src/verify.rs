//! Every hunk against the files, before anything is written.

use runward_files::Stamp;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::fs::Stat;

use crate::change::changed;
use crate::error::{Error, Problem};
use crate::ground::Ground;
use crate::hunk::{Action, Chunk, Hunk, Patch};
use crate::place::{Place, Walk, reach, walk};
use crate::report::Report;
use crate::seek::Effort;

/// A larger file is not patched.
pub(crate) const LARGEST_FILE: u64 = 16 << 20;

/// What the files of one patch may have together, before and after.
const LARGEST_PATCH: u64 = 64 << 20;

/// A patch that fits. Nothing is written yet.
#[derive(Debug)]
pub struct Verified {
    pub(crate) steps: Vec<Step>,
    pub(crate) report: Report,
}

/// One thing to do.
#[derive(Debug)]
pub(crate) struct Step {
    /// The file, as the patch names it.
    pub(crate) named: String,
    pub(crate) target: PathBuf,
    /// What stands there.
    pub(crate) was: Option<Stamp>,
    pub(crate) deed: Deed,
}

#[derive(Debug)]
pub(crate) enum Deed {
    /// This is to stand there, with the looks of this file, if there is one.
    Put { content: Vec<u8>, like: Option<Like> },
    /// Nothing is to stand there.
    Remove,
}

/// A file whose mode, owner and attributes another takes over.
#[derive(Clone, Debug)]
pub(crate) struct Like {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
    pub(crate) owner: u32,
    pub(crate) group: u32,
}

impl Patch {
    /// Holds every hunk against the files. Writes nothing.
    pub fn verify(&self, ground: &Ground) -> Result<Verified, Error> {
        let mut comparison = Comparison {
            ground,
            effort: Effort::default(),
            room: LARGEST_PATCH,
            targets: BTreeSet::new(),
            verified: Verified { steps: Vec::new(), report: Report::default() },
        };
        for (index, hunk) in self.hunks.iter().enumerate() {
            comparison.hunk(hunk).map_err(|problem| Error::Hunk {
                hunk: index + 1,
                line: hunk.line,
                verb: hunk.action.verb(),
                path: hunk.path.clone(),
                problem,
            })?;
        }
        Ok(comparison.verified)
    }
}

/// A patch beside the files.
struct Comparison<'a> {
    ground: &'a Ground,
    effort: Effort,
    /// How many bytes may still be read or made.
    room: u64,
    /// Every file that has a hunk.
    targets: BTreeSet<PathBuf>,
    /// What came of the hunks so far.
    verified: Verified,
}

impl Comparison<'_> {
    fn hunk(&mut self, Hunk { path, action, .. }: &Hunk) -> Result<(), Problem> {
        let target = self.target(path)?;
        match action {
            Action::Add(lines) => self.add(path, target, lines),
            Action::Delete => {
                let stat = there(&reach(&target)?)?;
                self.step(path, target, Some(&stat), Deed::Remove);
                self.verified.report.deleted.push(path.clone());
                Ok(())
            }
            Action::Update { to, chunks } => self.update(path, target, to.as_deref(), chunks),
        }
    }

    fn add(&mut self, named: &str, target: PathBuf, lines: &[String]) -> Result<(), Problem> {
        let content: Vec<u8> = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into();
        self.count(content.len())?;
        let standing = replaceable(&target)?;
        let like = standing.as_ref().map(|stat| Like::of(&target, stat));
        self.step(named, target, standing.as_ref(), Deed::Put { content, like });
        self.verified.report.added.push(named.to_owned());
        Ok(())
    }

    fn update(
        &mut self,
        named: &str,
        target: PathBuf,
        to: Option<&str>,
        chunks: &[Chunk],
    ) -> Result<(), Problem> {
        let place = reach(&target)?;
        let stat = there(&place)?;
        let file = place.read(&stat, LARGEST_FILE)?;
        self.count(file.len())?;
        let content = changed(&file, chunks, &mut self.effort)?;
        self.count(content.len())?;
        let deed = Deed::Put { content, like: Some(Like::of(&target, &stat)) };
        let elsewhere = |to: &&str| self.ground.target(to).ok().as_ref() != Some(&target);
        if let Some(to) = to.filter(elsewhere) {
            let destination = self.target(to)?;
            let standing = replaceable(&destination)?;
            self.step(to, destination, standing.as_ref(), deed);
            self.step(named, target, Some(&stat), Deed::Remove);
        } else {
            self.step(named, target, Some(&stat), deed);
        }
        self.verified.report.modified.push(to.unwrap_or(named).to_owned());
        Ok(())
    }

    fn step(&mut self, named: &str, target: PathBuf, was: Option<&Stat>, deed: Deed) {
        let step = Step { named: named.to_owned(), target, was: was.map(Stamp::from), deed };
        self.verified.steps.push(step);
    }

    /// The file that a patch names, which no other hunk may be about, nor about anything above or below it.
    fn target(&mut self, named: &str) -> Result<PathBuf, Problem> {
        let target = self.ground.target(named)?;
        let is_below = |other: &PathBuf| other.starts_with(&target);
        let next = self.targets.range(target.clone()..).next().is_some_and(is_below);
        if next || target.ancestors().any(|above| self.targets.contains(above)) {
            return Err(Problem::Twice(named.to_owned()));
        }
        self.targets.insert(target.clone());
        Ok(target)
    }

    fn count(&mut self, bytes: usize) -> Result<(), Problem> {
        self.room = self.room.checked_sub(bytes as u64).ok_or(Problem::TooMuch(LARGEST_PATCH))?;
        Ok(())
    }
}

/// The file that stands at a path, if there is one; it must be one that can be overwritten.
fn replaceable(path: &Path) -> Result<Option<Stat>, Problem> {
    let Walk::Whole(place) = walk(path)? else { return Ok(None) };
    let standing = place.standing()?;
    if standing.is_some() {
        place.must_be_writable()?;
    }
    Ok(standing)
}

fn there(place: &Place<'_>) -> Result<Stat, Problem> {
    place.standing()?.ok_or_else(|| Problem::NoSuchFile(place.path.to_owned()))
}

impl Like {
    fn of(path: &Path, stat: &Stat) -> Self {
        Like { path: path.to_owned(), mode: stat.st_mode, owner: stat.st_uid, group: stat.st_gid }
    }
}
