//! The grammar of patches, with its leniencies: blanks around markers, a missing first `@@`, carriage returns, the headers
//! of unified diffs, and a here-document or a fence around the whole.

mod around;

use crate::error::{Error, quoted};
use crate::hunk::{Action, Chunk, Hunk, Line, Patch};
use around::{unfenced, unwrapped};

/// A longer patch is refused; read, it takes many times as much memory.
const LONGEST: usize = 4 << 20;

/// A patch of more files is refused.
const MOST_HUNKS: usize = 1000;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";
/// By which a unified diff says that the line before it has no end.
const NO_NEWLINE: &str = "\\ No newline at end of file";
const ENVIRONMENT: &str = "*** Environment ID:";

impl Patch {
    /// Reads a patch. Touches nothing.
    pub fn parse(text: &str) -> Result<Patch, Error> {
        if text.len() > LONGEST {
            return Err(Error::TooLarge(format!(
                "the patch has {} bytes; {LONGEST} are read at most, so split it",
                text.len()
            )));
        }
        let lines: Vec<&str> = text.trim().lines().map(|line| line.trim_end_matches('\r')).collect();
        let hunks = Parser::new(&lines)?.hunks()?;
        match hunks.len() {
            0 => Err(Error::Empty),
            many if many > MOST_HUNKS => Err(Error::TooLarge(format!(
                "the patch names {many} files; {MOST_HUNKS} is the most, so split it"
            ))),
            _ => Ok(Patch { hunks }),
        }
    }
}

/// Whether a text looks like a patch from its first line on.
pub(crate) fn looks_like_a_patch(text: &str) -> bool {
    let lines: Vec<&str> = text.trim().lines().collect();
    let (lines, _) = unfenced(&lines).unwrap_or((&lines, 0));
    let mut lines = lines.iter().map(|line| line.trim());
    lines.next() == Some(BEGIN) && lines.next_back() == Some(END)
}

/// Stands at a line of a patch.
struct Parser<'a> {
    /// Without the first and the last marker.
    lines: &'a [&'a str],
    at: usize,
    /// What precedes `lines` in the patch.
    before: usize,
}

impl<'a> Parser<'a> {
    fn new(lines: &'a [&'a str]) -> Result<Self, Error> {
        let (lines, before) = unwrapped(lines);
        let (first, rest) = lines.split_first().map_or(("", lines), |(first, rest)| (first.trim(), rest));
        if first != BEGIN {
            let problem = format!("the first line of the patch must be '{BEGIN}', not {}", quoted(first));
            return Err(Error::Grammar { line: before + 1, problem });
        }
        let (last, rest) = rest.split_last().map_or(("", rest), |(last, rest)| (last.trim(), rest));
        if last != END {
            let problem = format!("the last line of the patch must be '{END}', not {}", quoted(last));
            return Err(Error::Grammar { line: before + lines.len(), problem });
        }
        Ok(Parser { lines: rest, at: 0, before: before + 1 })
    }

    fn hunks(mut self) -> Result<Vec<Hunk>, Error> {
        let mut hunks = Vec::new();
        self.skip_blank();
        if self.peek().is_some_and(|line| line.trim().starts_with(ENVIRONMENT)) {
            self.at += 1;
        }
        loop {
            self.skip_blank();
            if self.peek().is_none() {
                return Ok(hunks);
            }
            hunks.push(self.hunk()?);
        }
    }

    fn hunk(&mut self) -> Result<Hunk, Error> {
        let (line, header) = (self.line(), self.peek().unwrap_or_default().trim());
        self.at += 1;
        let (path, action) = if let Some(path) = header.strip_prefix("*** Add File:") {
            (path, Action::Add(self.added()))
        } else if let Some(path) = header.strip_prefix("*** Delete File:") {
            (path, Action::Delete)
        } else if let Some(path) = header.strip_prefix("*** Update File:") {
            (path, self.update(line, path.trim())?)
        } else {
            let problem = format!(
                "{} is not a valid hunk header; a hunk begins with '*** Add File: PATH', '*** Delete File: PATH' or '*** Update File: PATH'",
                quoted(header)
            );
            return Err(Error::Grammar { line, problem });
        };
        let path = named(line, path)?;
        Ok(Hunk { line, path, action })
    }

    fn added(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(text) = self.peek().and_then(|line| line.strip_prefix('+')) {
            lines.push(text.to_owned());
            self.at += 1;
        }
        lines
    }

    fn update(&mut self, line: usize, path: &str) -> Result<Action, Error> {
        let mut to = None;
        if let Some(path) = self.peek().and_then(|line| line.trim().strip_prefix("*** Move to:")) {
            to = Some(named(self.line(), path)?);
            self.at += 1;
        }
        self.skip_file_names();
        let mut chunks = Vec::new();
        loop {
            self.skip_blank();
            if self.peek().is_none_or(|line| line.trim_start().starts_with("*** ")) {
                break;
            }
            if !chunks.is_empty() && self.peek().and_then(context).is_none() {
                return Err(self.unexpected());
            }
            chunks.push(self.chunk()?);
        }
        if chunks.is_empty() && to.is_none() {
            let problem =
                format!("the update of '{path}' is empty; say which lines go (-) and which come (+)");
            return Err(Error::Grammar { line, problem });
        }
        Ok(Action::Update { to, chunks })
    }

    fn chunk(&mut self) -> Result<Chunk, Error> {
        let mut chunk = Chunk { line: self.line(), ..Chunk::default() };
        while let Some(context) = self.peek().and_then(context) {
            match numbered(context) {
                Some(near) => chunk.near = Some(near),
                None if context.is_empty() => {}
                None => chunk.contexts.push(context.to_owned()),
            }
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            if line.trim() == END_OF_FILE && !line.starts_with(' ') {
                chunk.at_end = true;
                self.at += 1;
                break;
            }
            if line.starts_with("***") || context(line).is_some() {
                break;
            }
            if !line.starts_with(NO_NEWLINE) {
                chunk.body.push(body_line(line).ok_or_else(|| self.unexpected())?);
            }
            self.at += 1;
        }
        if chunk.body.is_empty() {
            let problem =
                "the chunk is empty; after '@@' come lines that stay ( ), go (-) or come (+)".into();
            return Err(Error::Grammar { line: chunk.line, problem });
        }
        Ok(chunk)
    }

    /// The two lines by which a unified diff names the file again.
    fn skip_file_names(&mut self) {
        let rest = self.lines.get(self.at..).unwrap_or_default();
        if let [old, new, header, ..] = rest
            && old.starts_with("--- ")
            && new.starts_with("+++ ")
            && context(header).is_some()
        {
            self.at += 2;
        }
    }

    fn unexpected(&self) -> Error {
        let found = quoted(self.peek().unwrap_or_default());
        let problem = format!(
            "{found} is not expected here; every line of an update begins with ' ' (stays), '-' (goes) or '+' (comes), and every chunk after the first with '@@'"
        );
        Error::Grammar { line: self.line(), problem }
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    fn skip_blank(&mut self) {
        while self.peek().is_some_and(|line| line.trim().is_empty()) {
            self.at += 1;
        }
    }

    /// The number of the line that is next, from 1.
    fn line(&self) -> usize {
        self.before + self.at + 1
    }
}

/// The file that a header names.
fn named(line: usize, path: &str) -> Result<String, Error> {
    match path.trim() {
        "" => Err(Error::Grammar { line, problem: "the hunk header names no file".into() }),
        path if path.contains('\0') => {
            Err(Error::Grammar { line, problem: "the path contains a NUL byte".into() })
        }
        path => Ok(path.to_owned()),
    }
}

/// What follows `@@`, where a line begins with that.
fn context(line: &str) -> Option<&str> {
    match line.trim_end() {
        "@@" => Some(""),
        _ => line.strip_prefix("@@ "),
    }
}

/// Where the header of a unified diff, `-8,2 +8,2 @@` and maybe more, says that its lines stand: the line that is the
/// first of them, or that lines come before, from 0.
fn numbered(context: &str) -> Option<usize> {
    let range = |word: &str, sign: char| -> Option<(usize, usize)> {
        let numbers = word.strip_prefix(sign)?;
        let (first, count) = numbers.split_once(',').unwrap_or((numbers, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    let mut words = context.split_whitespace();
    let (first, count) = range(words.next()?, '-')?;
    range(words.next()?, '+')?;
    words.next().is_none_or(|word| word == "@@").then_some(if count == 0 {
        first
    } else {
        first.saturating_sub(1)
    })
}

fn body_line(line: &str) -> Option<Line> {
    let mut letters = line.chars();
    let sign = letters.next();
    let text = letters.as_str().to_owned();
    match sign {
        None => Some(Line::Keep(String::new())),
        Some(' ') => Some(Line::Keep(text)),
        Some('-') => Some(Line::Remove(text)),
        Some('+') => Some(Line::Add(text)),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests;
