//! From a file and chunks to the file as it is to be.

use crate::error::Problem;
use crate::hunk::{Chunk, Line};
use crate::missing::{Chase, Missing};
use crate::seek::{Effort, Where, seek};
use crate::text::Text;

/// What happens before or to one line of the file.
struct Edit<'a> {
    at: usize,
    kind: Kind<'a>,
}

enum Kind<'a> {
    /// This comes before the line.
    Insert(&'a str),
    /// The line goes.
    Remove,
}

/// The file with every chunk applied. Each must stand after the one before; every line that no chunk removes stays byte
/// for byte.
pub(crate) fn changed(file: &[u8], chunks: &[Chunk], effort: &mut Effort) -> Result<Vec<u8>, Problem> {
    let text = Text::new(file);
    let (mut edits, mut from) = (Vec::new(), 0);
    for (index, chunk) in chunks.iter().enumerate() {
        let chase = Chase { text: &text, chunk, number: index + 1 };
        let found = locate(&chase, from, effort)?;
        from = found.next;
        edits.extend(edits_of(chunk.body.get(..found.length).unwrap_or_default(), found.start));
    }
    edits.sort_by_key(|edit| edit.at);
    Ok(written(file, &text, &edits))
}

/// Where a chunk belongs.
struct Found {
    /// The line that its first line is, or stands before.
    start: usize,
    /// How many of its lines count.
    length: usize,
    /// Where the next chunk is looked for.
    next: usize,
}

/// Looks for a chunk from a line on.
fn locate(chase: &Chase<'_>, mut from: usize, effort: &mut Effort) -> Result<Found, Problem> {
    let Chase { text, chunk, .. } = *chase;
    for context in &chunk.contexts {
        let found = seek(text, &[context.as_str()], Where::From(from), effort)?;
        from = found.ok_or_else(|| Missing::context(chase, context, from))? + 1;
    }
    if chunk.body.iter().all(|line| line.old().is_none()) {
        // Without a line to stand by, it goes after its context, to where it says, or to the end of the file.
        let start = match chunk.near {
            Some(near) if chunk.contexts.is_empty() && !chunk.at_end => near.clamp(from, text.len()),
            _ if chunk.contexts.is_empty() || chunk.at_end => text.len(),
            _ => from,
        };
        return Ok(Found { start, length: chunk.body.len(), next: from });
    }
    for length in lengths(&chunk.body) {
        let old: Vec<&str> = chunk.body.iter().take(length).filter_map(Line::old).collect();
        let place = match chunk.near {
            _ if chunk.at_end => Where::AtEndOrFrom(from),
            Some(near) => Where::Near(from, near),
            None => Where::From(from),
        };
        if let Some(start) = seek(text, &old, place, effort)? {
            return Ok(Found { start, length, next: start + old.len() });
        }
    }
    Err(Missing::lines(chase, from))
}

/// All lines of a chunk, then without empty ones at its end, which may only be there to set the next chunk off.
fn lengths(body: &[Line]) -> impl Iterator<Item = usize> {
    let is_blank = |line: &Line| matches!(line, Line::Keep(text) if text.is_empty());
    let blank = body.iter().rev().take_while(|line| is_blank(line)).count();
    let rest = body.len() - blank;
    let fewer = [body.len().saturating_sub(1), rest];
    let keeps_something = |length: &usize| {
        *length < body.len() && *length >= rest && body.iter().take(*length).any(|line| line.old().is_some())
    };
    std::iter::once(body.len()).chain(fewer.into_iter().filter(keeps_something).collect::<Vec<_>>())
}

fn edits_of(body: &[Line], start: usize) -> Vec<Edit<'_>> {
    let (mut edits, mut at) = (Vec::new(), start);
    for line in body {
        match line {
            Line::Keep(_) => at += 1,
            Line::Remove(_) => {
                edits.push(Edit { at, kind: Kind::Remove });
                at += 1;
            }
            Line::Add(text) => edits.push(Edit { at, kind: Kind::Insert(text) }),
        }
    }
    edits
}

fn written(file: &[u8], text: &Text<'_>, edits: &[Edit<'_>]) -> Vec<u8> {
    let mut written = Text::mark(file).to_vec();
    let begin = written.len();
    let usual = usual_ending(text);
    let mut edits = edits.iter().peekable();
    let mut last_ending: &[u8] = &[];
    for index in 0..=text.len() {
        let mut stays = index < text.len();
        while let Some(edit) = edits.next_if(|edit| edit.at <= index) {
            match edit.kind {
                Kind::Remove => stays = false,
                Kind::Insert(line) => {
                    last_ending = ending_beside(text, index, usual);
                    written.extend_from_slice(line.as_bytes());
                    written.extend_from_slice(last_ending);
                }
            }
        }
        if stays {
            last_ending = Some(text.ending(index)).filter(|ending| !ending.is_empty()).unwrap_or(usual);
            written.extend_from_slice(text.line(index));
            written.extend_from_slice(last_ending);
        }
    }
    let was_unfinished = text.len().checked_sub(1).is_some_and(|last| text.ending(last).is_empty());
    if was_unfinished && written.len() > begin {
        written.truncate(written.len() - last_ending.len());
    }
    written
}

/// How the first line ends, or would.
fn usual_ending<'a>(text: &Text<'a>) -> &'a [u8] {
    Some(text.ending(0)).filter(|ending| !ending.is_empty()).unwrap_or(b"\n")
}

/// A new line ends like the one that it follows.
fn ending_beside<'a>(text: &Text<'a>, index: usize, usual: &'a [u8]) -> &'a [u8] {
    Some(text.ending(index.saturating_sub(1))).filter(|ending| !ending.is_empty()).unwrap_or(usual)
}

#[cfg(test)]
mod tests;
