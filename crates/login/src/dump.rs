//! What a shell says of itself: one script that prints its whole state, and the reading of what it printed.

use std::collections::BTreeMap;

/// Prints the state of the shell that reads it, fields ended by NUL, which no value of a shell can hold. It sets
/// nothing but names of its own, and calls builtins past whatever functions and aliases stand in front of them.
const SCRIPT: &str = include_str!("dump.sh");

/// Names of the script's own.
const OWN: &[u8] = b"__runward";

/// Variables by which bash tells of itself, of its directory and of its last command.
const LIVELY: [&str; 41] = [
    "BASH",
    "BASHOPTS",
    "BASHPID",
    "BASH_ALIASES",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_CMDS",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_LINENO",
    "BASH_MONOSECONDS",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "BASH_SUBSHELL",
    "BASH_TRAPSIG",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "COLUMNS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "LINENO",
    "LINES",
    "OLDPWD",
    "PIPESTATUS",
    "PPID",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "UID",
    "_",
    "BASH_LOADABLES_PATH",
    "MAPFILE",
];

/// One part of a shell's state, as the shell itself prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Version,
    Umask,
    SoftLimits,
    HardLimits,
    Shopt,
    Set,
    Aliases,
    Functions,
    FunctionAttributes,
    Traps,
    Disabled,
    Descriptors,
}

impl Section {
    /// In the order in which the script prints them.
    pub(crate) const ALL: [Section; 12] = [
        Section::Version,
        Section::Umask,
        Section::SoftLimits,
        Section::HardLimits,
        Section::Shopt,
        Section::Set,
        Section::Aliases,
        Section::Functions,
        Section::FunctionAttributes,
        Section::Traps,
        Section::Disabled,
        Section::Descriptors,
    ];
}

/// The state of a shell.
#[derive(Debug)]
pub(crate) struct Dump {
    sections: Vec<Vec<u8>>,
    /// By name, those left out that are never the same twice.
    pub(crate) variables: BTreeMap<String, Variable>,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    /// The command that declares it again.
    pub(crate) declaration: Vec<u8>,
    /// Its value, of an array the first one.
    pub(crate) value: Vec<u8>,
}

/// The script that prints a state, marked so that nothing else that is printed can be taken for it.
pub(crate) fn script(mark: &str) -> String {
    SCRIPT.replace("NONCE", mark)
}

impl Dump {
    /// Finds a marked state in what a shell printed; `None` when there is none, or not the whole of it.
    pub(crate) fn read(printed: &[u8], mark: &str) -> Option<Self> {
        let begin = [b"\0", mark.as_bytes(), b"\0"].concat();
        let at = printed.windows(begin.len()).position(|window| window == begin)?;
        let mut fields = printed.get(at + begin.len()..)?.split(|byte| *byte == 0);
        let mut sections = Vec::new();
        for _ in Section::ALL {
            sections.push(fields.next()?.to_vec());
        }
        let end = [mark.as_bytes(), b"-end"].concat();
        let mut variables = BTreeMap::new();
        loop {
            let name = fields.next()?;
            if name == end {
                return Some(Dump { sections, variables });
            }
            let declaration = fields.next()?;
            let declaration = declaration.strip_suffix(b"\n").unwrap_or(declaration).to_vec();
            let value = fields.next()?.to_vec();
            if let Some(name) = kept(name).filter(|_| !declaration.is_empty()) {
                variables.insert(name, Variable { declaration, value });
            }
        }
    }

    pub(crate) fn section(&self, section: Section) -> &[u8] {
        self.sections.get(section as usize).map_or(&[], Vec::as_slice)
    }

    /// The lines of a section that another state does not have.
    pub(crate) fn new_lines(&self, section: Section, than: &Dump) -> Vec<&[u8]> {
        let known: Vec<&[u8]> = lines(than.section(section)).collect();
        lines(self.section(section)).filter(|line| !known.contains(line)).collect()
    }
}

impl Variable {
    /// The letters of its attributes.
    pub(crate) fn attributes(&self) -> String {
        let flags = self.declaration.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        String::from_utf8_lossy(flags).chars().filter(char::is_ascii_alphabetic).collect()
    }

    /// Whether another one is the same. What a shell holds by keys it tells in an order of its own.
    pub(crate) fn equals(&self, other: &Variable) -> bool {
        let words = |variable: &Variable| {
            let mut words: Vec<Vec<u8>> =
                variable.declaration.split(|byte| *byte == b' ').map(<[u8]>::to_vec).collect();
            words.sort_unstable();
            words
        };
        self == other || self.attributes().contains('A') && words(self) == words(other)
    }

    /// Whether commands get it: it is exported, and its value is one that an environment can hold.
    pub(crate) fn is_in_environment(&self) -> bool {
        let attributes = self.attributes();
        attributes.contains('x') && !attributes.contains(['a', 'A']) && self.declaration.contains(&b'=')
    }
}

/// The lines of a text that are not empty.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn kept(name: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(name).ok()?;
    (!name.starts_with(OWN) && !LIVELY.contains(&text)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(variables: &str) -> Vec<u8> {
        format!("junk\0m\0{}{variables}m-end\0", "x\0".repeat(Section::ALL.len())).into_bytes()
    }

    #[test]
    fn what_is_printed_before_and_after_a_state_is_no_part_of_it() {
        let text = printed("A\0declare -rx A=\"a\nb\"\n\0a\nb\0PPID\0declare -ir PPID=\"7\"\n\0x\0");
        let dump = Dump::read(&[&text[..], b"more"].concat(), "m").unwrap();
        assert_eq!(dump.variables.keys().collect::<Vec<_>>(), ["A"]);
        let variable = &dump.variables["A"];
        assert_eq!((variable.attributes().as_str(), &*variable.value), ("rx", &b"a\nb"[..]));
        assert!(variable.is_in_environment());
    }

    #[test]
    fn a_state_without_its_end_is_none() {
        let text = printed("A\0declare -- A=\"a\"\n\0a\0");
        for length in 0..text.len() - 1 {
            assert!(Dump::read(&text[..length], "m").is_none(), "{length}");
        }
    }
}
