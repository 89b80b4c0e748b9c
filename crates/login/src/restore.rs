//! From the states of two shells to what makes the one out of the other: variables for the environment, and a script
//! for what no environment can carry.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::Withheld;
use crate::dump::{Dump, Section, Variable, lines};

/// The variable that names what a shell reads before it does anything else.
pub(crate) const BASH_ENV: &str = "BASH_ENV";

/// Options that change what becomes of a command without any shell syntax.
const FELT_BY_COMMANDS: [&str; 6] = ["keyword", "noexec", "onecmd", "privileged", "verbose", "xtrace"];

/// What start-up files made of a shell.
#[derive(Debug)]
pub(crate) struct Changes<'a> {
    /// A shell that read none.
    pub(crate) before: &'a Dump,
    /// One that did.
    pub(crate) after: &'a Dump,
    pub(crate) withheld: &'a Withheld,
    /// The names of the variables that both began with.
    pub(crate) inherited: &'a [OsString],
}

impl Changes<'_> {
    /// Every variable that commands get.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let exported = self.variables().filter(|(_, variable)| variable.is_in_environment());
        exported.map(|(name, variable)| (name.into(), OsString::from_vec(variable.value.clone()))).collect()
    }

    /// What a shell has to read to become the other one; empty when the environment is enough.
    pub(crate) fn script(&self) -> Vec<u8> {
        let mut script = Vec::new();
        for part in [
            self.shopt(),
            self.functions(),
            self.declarations(),
            self.limits(),
            self.aliases_and_traps(),
            self.options(),
        ] {
            script.extend(part);
        }
        let names_another = self.after.variables.get(BASH_ENV).filter(|another| another.is_in_environment());
        match names_another {
            None if script.is_empty() => script,
            None => [b"unset -v BASH_ENV\n", &*script].concat(),
            Some(another) => [&*another.declaration, b"\n", &script].concat(),
        }
    }

    /// Why reading a script cannot make the same shell of another one, if it cannot.
    pub(crate) fn obstacle(&self) -> Option<&'static str> {
        let traps = self.after.section(Section::Traps);
        if lines(traps).any(|line| line.ends_with(b" DEBUG") || line.ends_with(b" RETURN")) {
            return Some("they set a trap that every command and every file springs");
        }
        if self.differs(Section::Descriptors) {
            return Some("they leave files open");
        }
        let path = self.after.variables.get("PATH");
        path.is_none_or(|path| !path.is_in_environment()).then_some("they export no PATH")
    }

    /// Whether a command without shell syntax comes out the same without the shell.
    pub(crate) fn leave_commands_alone(&self) -> bool {
        let felt = |line: &&[u8]| FELT_BY_COMMANDS.iter().any(|option| line.ends_with(option.as_bytes()));
        let is_plain_function = |line: &&[u8]| line.starts_with(b"declare -f ");
        let settled = [Section::Umask, Section::SoftLimits, Section::HardLimits, Section::Traps]
            .map(|section| self.differs(section));
        !settled.contains(&true)
            && !self.after.new_lines(Section::Set, self.before).iter().any(felt)
            && !self.after.new_lines(Section::Shopt, self.before).contains(&&b"shopt -s xpg_echo"[..])
            && lines(self.after.section(Section::FunctionAttributes)).all(|line| is_plain_function(&line))
    }

    /// The first thing in which a shell that was made differs from the one it should be.
    pub(crate) fn missed(&self, made: &Dump) -> Option<String> {
        let differs = |section: &Section| self.after.section(*section) != made.section(*section);
        if let Some(section) = Section::ALL.iter().find(|section| differs(section)) {
            return Some(format!("{section:?}"));
        }
        let wanted = self.variables().filter(|(name, _)| *name != "PATH");
        let wrong = |(name, variable): &(&String, &Variable)| {
            made.variables.get(*name).is_none_or(|made| !made.equals(variable))
        };
        let missing = wanted.clone().find(wrong).map(|(name, _)| name.clone());
        missing
            .or_else(|| made.variables.keys().find(|name| !self.after.variables.contains_key(*name)).cloned())
    }

    fn differs(&self, section: Section) -> bool {
        self.before.section(section) != self.after.section(section)
    }

    /// Those that commands may have: what was there before is the operator's choice already.
    fn variables(&self) -> impl Iterator<Item = (&String, &Variable)> + Clone {
        let inherited =
            |name: &str| self.inherited.iter().any(|known| known == OsStr::from_bytes(name.as_bytes()));
        self.after.variables.iter().filter(move |(name, _)| inherited(name) || !self.withheld.holds(name))
    }

    /// First: some decide how what follows is read.
    fn shopt(&self) -> Vec<u8> {
        self.after.new_lines(Section::Shopt, self.before).into_iter().flat_map(ended).collect()
    }

    fn functions(&self) -> Vec<u8> {
        if !self.differs(Section::Functions) && !self.differs(Section::FunctionAttributes) {
            return Vec::new();
        }
        let attributes = lines(self.after.section(Section::FunctionAttributes));
        let attributes = attributes.filter(|line| !line.starts_with(b"declare -f ")).flat_map(ended);
        self.after.section(Section::Functions).iter().copied().chain(attributes).collect()
    }

    fn declarations(&self) -> Vec<u8> {
        let gone = self.before.variables.iter().filter(|(name, _)| !self.after.variables.contains_key(*name));
        let gone = gone.filter(|(_, variable)| !variable.is_in_environment());
        let gone = gone.flat_map(|(name, _)| format!("unset -v {name}\n").into_bytes());
        let changed = self.variables().filter(|(name, variable)| {
            *name != BASH_ENV
                && self.before.variables.get(*name).map(|before| &before.declaration)
                    != Some(&variable.declaration)
        });
        gone.chain(changed.flat_map(|(name, variable)| declaration(name, variable))).collect()
    }

    fn limits(&self) -> Vec<u8> {
        let mut script = Vec::new();
        if self.differs(Section::Umask) {
            script.extend([b"umask ", self.after.section(Section::Umask)].concat());
        }
        for (kind, section) in [("-S", Section::SoftLimits), ("-H", Section::HardLimits)] {
            for line in self.after.new_lines(section, self.before) {
                script.extend(limit(kind, &String::from_utf8_lossy(line)).into_bytes());
            }
        }
        script
    }

    /// After the functions, whose text aliases would change.
    fn aliases_and_traps(&self) -> Vec<u8> {
        let sections = [Section::Disabled, Section::Aliases, Section::Traps];
        sections
            .iter()
            .filter(|section| self.differs(**section))
            .flat_map(|section| self.after.section(*section))
            .copied()
            .collect()
    }

    /// Last and at once: some are felt by whatever follows.
    fn options(&self) -> Vec<u8> {
        let lines = self.after.new_lines(Section::Set, self.before);
        let options: Vec<&[u8]> = lines.into_iter().filter_map(|line| line.strip_prefix(b"set ")).collect();
        if options.is_empty() { Vec::new() } else { [b"set ", &*options.join(&b' '), b"\n"].concat() }
    }
}

fn ended(line: &[u8]) -> impl Iterator<Item = u8> + '_ {
    line.iter().copied().chain([b'\n'])
}

/// Declares a variable again. The value of one that is in the environment stands there; of another it is set unless
/// there is one in the environment all the same: then the caller gave it.
fn declaration(name: &str, variable: &Variable) -> Vec<u8> {
    let attributes = variable.attributes();
    if variable.is_in_environment() {
        let others: String = attributes.chars().filter(|letter| *letter != 'x').collect();
        return if others.is_empty() {
            Vec::new()
        } else {
            format!("declare -{others} {name}\n").into_bytes()
        };
    }
    let unless_given = if attributes.contains(['x', 'n']) {
        String::new()
    } else {
        format!("[[ ${{{name}@a}} == *x* ]] || ")
    };
    [unless_given.as_bytes(), &variable.declaration, b"\n"].concat()
}

/// From a line such as `open files (-n) 1024`.
fn limit(kind: &str, line: &str) -> String {
    let (letter, value) = line.rsplit_once(')').unwrap_or_default();
    let letter = letter.chars().last().filter(char::is_ascii_alphabetic);
    let value = value.trim();
    letter.map_or_else(String::new, |letter| format!("ulimit {kind} -{letter} {value} 2>/dev/null\n"))
}
