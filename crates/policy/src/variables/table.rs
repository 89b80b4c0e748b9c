//! The table of variables that decide what runs, as it stands in `data/variables.txt`.

use std::fmt;
use std::sync::LazyLock;

use super::Case;

const TABLE: &str = include_str!("../../data/variables.txt");

static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| TABLE.lines().filter_map(Line::read).collect());

/// Which programs a variable concerns, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Their names, with commas between them, or what they have in common.
    pub(crate) programs: &'static str,
    pub(crate) why: &'static str,
}

impl Entry {
    /// Whether it concerns a program of this name.
    pub(super) fn is_about(&self, program: &str) -> bool {
        self.programs.split(", ").any(|name| name == program)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.why, self.programs)
    }
}

/// One line: names, and what is said of them; nothing for names that are harmless.
struct Line {
    names: Vec<Name>,
    entry: Option<Entry>,
}

impl Line {
    fn read(line: &'static str) -> Option<Line> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let mut parts = line.split('|').map(str::trim);
        let names = parts.next()?.split_whitespace().map(Name::read).collect();
        let entry = parts.next().zip(parts.next()).map(|(programs, why)| Entry { programs, why });
        Some(Line { names, entry })
    }
}

/// A name, or the beginning or end of names.
#[expect(clippy::struct_excessive_bools, reason = "four marks of a name that do not depend on each other")]
struct Name {
    text: &'static str,
    open_front: bool,
    open_back: bool,
    /// Whether the program that reads it takes it in any case.
    folded: bool,
    harmless: bool,
}

impl Name {
    fn read(written: &'static str) -> Name {
        let (folded, rest) = written.strip_prefix('~').map_or((false, written), |rest| (true, rest));
        let (harmless, rest) = rest.strip_prefix('!').map_or((false, rest), |rest| (true, rest));
        let (open_front, rest) = rest.strip_prefix('*').map_or((false, rest), |rest| (true, rest));
        let (open_back, text) = rest.strip_suffix('*').map_or((false, rest), |rest| (true, rest));
        Name { text, open_front, open_back, folded, harmless }
    }

    fn is(&self, name: &str, case: Case) -> bool {
        let folded = self.folded || case == Case::Any && !self.harmless;
        let (name, text) = (name.as_bytes(), self.text.as_bytes());
        let same = |part: &[u8]| if folded { part.eq_ignore_ascii_case(text) } else { part == text };
        match (self.open_front, self.open_back) {
            (false, false) => same(name),
            (false, true) => name.get(..text.len()).is_some_and(same),
            (true, false) => {
                name.len().checked_sub(text.len()).and_then(|at| name.get(at..)).is_some_and(same)
            }
            (true, true) => name.windows(text.len().max(1)).any(same),
        }
    }
}

/// Everything that the table says against a name.
pub(super) fn entries_for(name: &str, case: Case) -> Vec<Entry> {
    let all = || LINES.iter().flat_map(|line| line.names.iter().map(move |name| (name, line.entry)));
    if all().any(|(known, _)| known.harmless && known.is(name, case)) {
        return Vec::new();
    }
    all()
        .filter(|(known, _)| !known.harmless && known.is(name, case))
        .filter_map(|(_, entry)| entry)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_says_why_or_that_its_names_are_harmless() {
        assert!(LINES.len() > 100);
        for line in LINES.iter() {
            let shown: Vec<&str> = line.names.iter().map(|name| name.text).collect();
            assert!(!line.names.is_empty());
            match line.entry {
                None => assert!(line.names.iter().all(|name| name.harmless), "{shown:?}"),
                Some(entry) => {
                    assert!(!entry.why.is_empty() && !entry.programs.is_empty(), "{shown:?}");
                    assert!(line.names.iter().all(|name| !name.harmless), "{shown:?}");
                }
            }
            assert!(shown.iter().all(|text| text.len() > 1 && !text.contains(['*', '!', '~'])), "{shown:?}");
        }
    }

    #[test]
    fn what_is_called_harmless_would_be_refused_otherwise() {
        for name in LINES.iter().flat_map(|line| &line.names).filter(|name| name.harmless) {
            let others = LINES.iter().flat_map(|line| &line.names).filter(|other| !other.harmless);
            assert!(others.into_iter().any(|other| other.is(name.text, Case::Any)), "{}", name.text);
        }
    }

    #[test]
    fn beginnings_and_ends_are_told_from_whole_names() {
        let is = |pattern, name, case| Name::read(pattern).is(name, case);
        assert!(is("LD_*", "LD_PRELOAD", Case::AsPrograms) && !is("LD_*", "OLD_X", Case::AsPrograms));
        assert!(is("*PAGER", "MANPAGER", Case::AsPrograms) && !is("*PAGER", "PAGERS", Case::AsPrograms));
        assert!(
            is("*FLAGS_*", "CFLAGS_x86", Case::AsPrograms) && !is("*FLAGS_*", "FLAG_x", Case::AsPrograms)
        );
        assert!(
            !is("CC", "CCC", Case::Any) && !is("CC", "cc", Case::AsPrograms) && is("CC", "cc", Case::Any)
        );
        assert!(is("~NPM_*", "nPm_x", Case::AsPrograms));
        assert!(!is("!NODE_ENV", "node_env", Case::Any));
    }
}
