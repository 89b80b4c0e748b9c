//! What to say when lines do not stand where a patch wants them.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use thiserror::Error;

use crate::error::{Problem, shortened};
use crate::fold::folded;
use crate::hunk::{Chunk, Line};
use crate::seek::{Effort, Likeness, Where, seek};
use crate::text::Text;

/// More lines than this are not shown.
const SHOWN: usize = 20;

/// More lines of a chunk than this are not compared to find what was meant.
const COMPARED: usize = 40;

/// In a file of more lines than this, what was meant is not looked for.
const LONGEST: usize = 200_000;

/// The search for a chunk.
#[derive(Clone, Copy)]
pub(crate) struct Chase<'a> {
    pub(crate) text: &'a Text<'a>,
    pub(crate) chunk: &'a Chunk,
    /// Which chunk of its hunk, from 1.
    pub(crate) number: usize,
}

/// Lines that were looked for, and what stands there instead.
#[derive(Debug, Error)]
pub struct Missing {
    what: &'static str,
    /// Which chunk of its hunk, from 1.
    chunk: usize,
    /// The line of the patch that the chunk begins at.
    line: usize,
    wanted: Shown,
    instead: Instead,
}

#[derive(Debug)]
enum Instead {
    /// The lines stand at this line, which is before the one that they are looked for from.
    Earlier { at: usize, from: usize },
    /// The file is empty.
    Nothing,
    /// These lines, with the number of the first one, and of the first that differs where some are alike.
    Lines { first: usize, differs: Option<usize>, lines: Shown },
}

/// Some lines, and how many more there are.
#[derive(Debug)]
struct Shown {
    lines: Vec<String>,
    more: usize,
}

impl Missing {
    /// A line after `@@` is not there.
    pub(crate) fn context(chase: &Chase<'_>, context: &str, from: usize) -> Problem {
        problem("failed to find context", chase, &[context], from)
    }

    /// The lines of the chunk are not there.
    pub(crate) fn lines(chase: &Chase<'_>, from: usize) -> Problem {
        let old: Vec<&str> = chase.chunk.body.iter().filter_map(Line::old).collect();
        problem("failed to find expected lines", chase, &old, from)
    }
}

fn problem(what: &'static str, chase: &Chase<'_>, wanted: &[&str], from: usize) -> Problem {
    let instead = instead(chase.text, wanted, from);
    let wanted = Shown::of(wanted.iter().map(|line| line.as_bytes()), wanted.len());
    let missing = Missing { what, chunk: chase.number, line: chase.chunk.line, wanted, instead };
    Problem::Missing(Box::new(missing))
}

fn instead(text: &Text<'_>, wanted: &[&str], from: usize) -> Instead {
    if text.len() == 0 {
        return Instead::Nothing;
    }
    let earlier = seek(text, wanted, Where::From(0), &mut Effort::default()).unwrap_or_default();
    if let Some(at) = earlier.filter(|at| *at < from) {
        return Instead::Earlier { at: at + 1, from: from + 1 };
    }
    let near = nearest(text, wanted.get(..COMPARED).unwrap_or(wanted));
    let start = near.unwrap_or(from).min(text.len().saturating_sub(1));
    let count = wanted.len().clamp(1, text.len() - start);
    let is_alike = |(index, wanted): (usize, &&str)| Likeness::Folded.is(text.line(index), &folded(wanted));
    let alike = (start..text.len()).zip(wanted).take_while(|pair| is_alike(*pair)).count();
    let lines = Shown::of((start..start + count).map(|index| text.line(index)), count);
    Instead::Lines { first: start + 1, differs: near.map(|start| start + alike + 1), lines }
}

/// Where most of these lines stand, one after the other, if any does.
fn nearest(text: &Text<'_>, wanted: &[&str]) -> Option<usize> {
    if text.len() > LONGEST {
        return None;
    }
    let state = RandomState::new();
    let fingerprint =
        |line: &str| Some(folded(line)).filter(|line| !line.is_empty()).map(|line| state.hash_one(line));
    let there: Vec<Option<u64>> =
        (0..text.len()).map(|index| fingerprint(&String::from_utf8_lossy(text.line(index)))).collect();
    let wanted: Vec<Option<u64>> = wanted.iter().map(|line| fingerprint(line)).collect();
    let alike = |start: usize| {
        let pairs = there.iter().skip(start).zip(&wanted);
        pairs.filter(|(there, wanted)| there.is_some() && there == wanted).count()
    };
    let best = (0..text.len()).rev().max_by_key(|start| alike(*start))?;
    (alike(best) > 0).then_some(best)
}

impl Shown {
    fn of<'a>(lines: impl Iterator<Item = &'a [u8]>, count: usize) -> Self {
        let lines = lines.take(SHOWN).map(|line| shortened(&String::from_utf8_lossy(line))).collect();
        Shown { lines, more: count.saturating_sub(SHOWN) }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { what, chunk, line, wanted, instead } = self;
        write!(f, "{what} (chunk {chunk}, at line {line} of the patch); looked for:")?;
        wanted.lines.iter().try_for_each(|line| write!(f, "\n    {line}"))?;
        and_more(wanted, f)?;
        match instead {
            Instead::Nothing => write!(f, "\nbut the file is empty"),
            Instead::Earlier { at, from } => write!(
                f,
                "\nthat stands at line {at} of the file, and is looked for from line {from} on, after what comes before it in the hunk; order chunks from top to bottom"
            ),
            Instead::Lines { first, differs, lines } => {
                f.write_str("\nwhat stands there instead:")?;
                (*first..)
                    .zip(&lines.lines)
                    .try_for_each(|(number, line)| write!(f, "\n{number:>6}: {line}"))?;
                and_more(lines, f)?;
                match differs {
                    Some(line) => write!(f, "\nthe first difference is at line {line} of the file"),
                    None => write!(f, "\nand nothing like it stands in the file"),
                }
            }
        }
    }
}

fn and_more(shown: &Shown, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if shown.more == 0 { Ok(()) } else { write!(f, "\n    … {} more lines", shown.more) }
}
