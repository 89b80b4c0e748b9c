//! What callers put around a patch: a fence of Markdown, a here-document.

use crate::recognise::NAMES;

/// More layers around each other are not taken away.
const LAYERS: usize = 4;

/// Some lines of a text, and how many come before them.
type Inside<'a> = (&'a [&'a str], usize);

/// The lines without what is around them.
pub(super) fn unwrapped<'a>(lines: &'a [&'a str]) -> Inside<'a> {
    let mut inside = (lines, 0);
    for _ in 0..LAYERS {
        let (lines, before) = inside;
        let Some((within, more)) = unfenced(lines).or_else(|| without_here_document(lines)) else { break };
        inside = (within, before + more);
    }
    inside
}

/// The lines between two fences of Markdown, if these are the first and the last.
pub(super) fn unfenced<'a>(lines: &'a [&'a str]) -> Option<Inside<'a>> {
    let [first, inside @ .., last] = lines else { return None };
    let (first, last) = (first.trim(), last.trim());
    let fence = ["```", "~~~"].into_iter().find(|fence| first.starts_with(fence))?;
    let sign = fence.chars().next()?;
    let is_end = last.len() >= fence.len() && last.chars().all(|letter| letter == sign);
    is_end.then(|| without_blank(inside))
}

/// The lines between `<<EOF`, maybe behind the name of this tool, and `EOF`, if these are the first and the last.
fn without_here_document<'a>(lines: &'a [&'a str]) -> Option<Inside<'a>> {
    let [first, inside @ .., last] = lines else { return None };
    let (called, announced) = first.split_once("<<")?;
    let called = called.trim();
    let delimiter = announced.trim().trim_matches(['\'', '"', '\\']);
    let is_whole = !delimiter.is_empty() && last.trim() == delimiter;
    (is_whole && (called.is_empty() || NAMES.contains(&called))).then(|| without_blank(inside))
}

/// The lines without blank ones around them.
fn without_blank<'a>(inside: &'a [&'a str]) -> Inside<'a> {
    let is_inked = |line: &&str| !line.trim().is_empty();
    let first = inside.iter().position(is_inked).unwrap_or_default();
    let end = inside.iter().rposition(is_inked).map_or(first, |last| last + 1);
    (inside.get(first..end).unwrap_or_default(), first + 1)
}
