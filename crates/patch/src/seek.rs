//! Finding lines in a file: as they are, then without the blanks at their ends, then without those around them, then
//! with typographic signs as plain ones.

use std::borrow::Cow;

use crate::error::Problem;
use crate::fold::folded;
use crate::text::Text;

/// How many bytes all searches of one patch may look at.
const MOST_EFFORT: u64 = 512 << 20;

/// What is left for searching, so that no patch makes the server search for long.
#[derive(Debug)]
pub(crate) struct Effort(u64);

impl Default for Effort {
    fn default() -> Self {
        Effort(MOST_EFFORT)
    }
}

impl Effort {
    fn spend(&mut self, bytes: usize) -> Result<(), Problem> {
        // Every look costs something, even at nothing.
        self.0 = self.0.checked_sub(16 + bytes as u64).ok_or(Problem::TooMuchSearching)?;
        Ok(())
    }
}

/// How alike a line has to be, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// Byte for byte.
    Exact,
    /// But for blanks at the end.
    EndTrimmed,
    /// But for blanks around it.
    Trimmed,
    /// But for those, typographic signs, and bytes that are no text.
    Folded,
}

impl Likeness {
    const ALL: [Likeness; 4] = [Likeness::Exact, Likeness::EndTrimmed, Likeness::Trimmed, Likeness::Folded];

    fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Likeness::Exact => text.into(),
            Likeness::EndTrimmed => text.trim_end().into(),
            Likeness::Trimmed => text.trim().into(),
            Likeness::Folded => folded(text).into(),
        }
    }

    /// Whether a line of a file is like one that was brought into this form.
    pub(crate) fn is(self, line: &[u8], wanted: &str) -> bool {
        match (self, std::str::from_utf8(line)) {
            (Likeness::Exact, _) => line == wanted.as_bytes(),
            (Likeness::Folded, _) => self.of(&String::from_utf8_lossy(line)) == wanted,
            (_, Ok(line)) => self.of(line) == wanted,
            (_, Err(_)) => false,
        }
    }
}

/// Where lines are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// From a line on.
    From(usize),
    /// At the end if they stand there and not before a line, else from that line on.
    AtEndOrFrom(usize),
    /// As near as possible to the second line, from the first one on.
    Near(usize, usize),
}

/// The first place where these lines stand, or the nearest to where they should, by the strictest likeness that finds
/// them.
pub(crate) fn seek(
    text: &Text<'_>,
    wanted: &[&str],
    place: Where,
    effort: &mut Effort,
) -> Result<Option<usize>, Problem> {
    let (Where::From(from) | Where::AtEndOrFrom(from) | Where::Near(from, _)) = place;
    // The first is the nearest to the beginning.
    let middle = if let Where::Near(_, middle) = place { middle } else { from };
    let Some(last) = text.len().checked_sub(wanted.len()).filter(|last| *last >= from) else {
        return Ok(None);
    };
    let anchored = matches!(place, Where::AtEndOrFrom(_)).then_some(last..=last);
    for range in anchored.into_iter().chain([from..=last]) {
        for likeness in Likeness::ALL {
            let wanted: Vec<Cow<'_, str>> = wanted.iter().map(|line| likeness.of(line)).collect();
            let mut nearest: Option<usize> = None;
            for start in range.clone() {
                if stands_at(text, &wanted, start, likeness, effort)? {
                    let is_nearer =
                        nearest.is_none_or(|known| start.abs_diff(middle) < known.abs_diff(middle));
                    nearest = if is_nearer { Some(start) } else { nearest };
                }
                if nearest.is_some() && start >= middle {
                    break;
                }
            }
            if nearest.is_some() {
                return Ok(nearest);
            }
        }
    }
    Ok(None)
}

fn stands_at(
    text: &Text<'_>,
    wanted: &[Cow<'_, str>],
    start: usize,
    likeness: Likeness,
    effort: &mut Effort,
) -> Result<bool, Problem> {
    for (offset, wanted) in wanted.iter().enumerate() {
        let line = text.line(start + offset);
        effort.spend(match likeness {
            Likeness::Exact => line.len().min(wanted.len()),
            Likeness::EndTrimmed | Likeness::Trimmed => line.len(),
            // Letter by letter, into another text.
            Likeness::Folded => line.len() * 4,
        })?;
        if !likeness.is(line, wanted) {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &str, wanted: &[&str], place: Where) -> Option<usize> {
        seek(&Text::new(file.as_bytes()), wanted, place, &mut Effort::default()).unwrap()
    }

    #[test]
    fn the_strictest_likeness_wins_over_the_first_place() {
        let file = "  a\na \na\n\u{2018}b\u{2019}\n";
        assert_eq!(at(file, &["a"], Where::From(0)), Some(2));
        assert_eq!(at(file, &["a", "a"], Where::From(0)), Some(1));
        assert_eq!(at(file, &[" a "], Where::From(0)), Some(0));
        assert_eq!(at(file, &["'b'"], Where::From(0)), Some(3));
        assert_eq!(at(file, &["c"], Where::From(0)), None);
        assert_eq!(at(file, &["a"], Where::From(3)), None);
    }

    #[test]
    fn the_end_comes_first_where_it_is_asked_for() {
        assert_eq!(at("x\ny\nx\n", &["x"], Where::From(0)), Some(0));
        assert_eq!(at("x\ny\nx\n", &["x"], Where::AtEndOrFrom(0)), Some(2));
        assert_eq!(at("x\ny\n", &["x"], Where::AtEndOrFrom(0)), Some(0));
        assert_eq!(at("x\n", &["x", "x"], Where::AtEndOrFrom(0)), None);
    }

    #[test]
    fn the_place_that_is_nearest_to_a_line_wins_among_those_that_are_as_alike() {
        let file = "x\ny\nx\ny\nx\n x\n";
        for (near, found) in [(0, 0), (1, 0), (2, 2), (3, 2), (4, 4), (99, 4)] {
            assert_eq!(at(file, &["x"], Where::Near(0, near)), Some(found), "{near}");
        }
        assert_eq!(at(file, &["x"], Where::Near(1, 0)), Some(2));
        assert_eq!(at(file, &["z"], Where::Near(0, 3)), None);
    }

    #[test]
    fn a_search_that_takes_too_long_is_given_up() {
        let file = "a\n".repeat(100_000);
        let mut wanted = vec!["a"; 50_000];
        wanted.push("b");
        let found = seek(&Text::new(file.as_bytes()), &wanted, Where::From(0), &mut Effort::default());
        assert!(matches!(found, Err(Problem::TooMuchSearching)), "{found:?}");
    }
}
