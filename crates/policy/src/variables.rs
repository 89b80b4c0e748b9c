//! Variables that decide what runs.

mod locale;
mod table;

pub use locale::is_tame as is_tame_locale;
pub(crate) use table::Entry;

use crate::Policy;
use crate::wrappers::is_interpreter;

/// Variables that bash fills with text of its own, whatever a script assigned to them before.
const NEVER_NUMBERS: &[&str] = &[
    "_",
    "COPROC",
    "DIRSTACK",
    "FUNCNAME",
    "GROUPS",
    "HOSTNAME",
    "MAPFILE",
    "OLDPWD",
    "OPTARG",
    "PIPESTATUS",
    "PWD",
    "REPLY",
];

/// Variables that bash fills with numbers.
const NUMBERS: &[&str] = &["EPOCHSECONDS", "EUID", "LINENO", "PPID", "RANDOM", "SECONDS", "SRANDOM", "UID"];

/// What is assigned to a variable that bash keeps a number in is evaluated as arithmetic.
const EVALUATED: Entry = Entry { programs: "bash", why: "evaluates what it is given" };

/// Programs that run code by their own means, one a line.
const RUNS_CODE: &str = include_str!("../data/runs_code.txt");

/// What ends at once or shows what it is given, in the place of an editor, a pager or somebody who is asked.
const TAME_PROGRAMS: &[&str] = &[
    "",
    ":",
    "/bin/cat",
    "/bin/false",
    "/bin/true",
    "/usr/bin/cat",
    "/usr/bin/false",
    "/usr/bin/true",
    "cat",
    "echo",
    "false",
    "true",
];

/// How names are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// As programs do: nearly all of them tell upper from lower case, and scripts have names of their own in lower case.
    AsPrograms,
    /// In any case, whoever reads it.
    Any,
}

impl Policy {
    /// Whether this variable may have this value although it names a program: one that does nothing but end, or show what
    /// it is given.
    pub(crate) fn is_tame_program(&self, name: &str, value: Option<&str>) -> bool {
        let ends = ["PAGER", "EDITOR", "ASKPASS", "BROWSER"];
        let names_one = name == "VISUAL" || ends.iter().any(|end| name.ends_with(end));
        names_one && !self.looks_inside() && value.is_some_and(|value| TAME_PROGRAMS.contains(&value))
    }

    /// What speaks against setting this variable; nothing where it only concerns a program that is listed by name, that
    /// runs whatever it is told anyway, and nothing is blocked.
    pub(crate) fn objection_to_setting(&self, name: &str, case: Case) -> Option<Entry> {
        if is_always_a_number(name) {
            return Some(EVALUATED);
        }
        table::entries_for(name, case).into_iter().find(|entry| !self.lists_its_program(entry))
    }

    /// Whether an operator listed one of the programs that a variable concerns, and it runs any code.
    fn lists_its_program(&self, entry: &Entry) -> bool {
        let listed = |name: &str| {
            let base = name.rsplit('/').next().unwrap_or(name);
            let family = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            (is_interpreter(base) || runs_code(family)) && (entry.is_about(base) || entry.is_about(family))
        };
        !self.looks_inside() && self.allowlist.entries().iter().any(|name| listed(name))
    }
}

/// Whether a program runs whatever code it is told to, without being an interpreter.
fn runs_code(program: &str) -> bool {
    RUNS_CODE.lines().any(|line| line.split_once(" | ").is_some_and(|(name, _)| name == program))
}

/// Whether bash may put other text into this variable by itself.
pub(crate) fn is_never_a_number(name: &str) -> bool {
    NEVER_NUMBERS.contains(&name) || name.starts_with("BASH")
}

/// Whether bash itself keeps a number in it.
pub(crate) fn is_always_a_number(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// The sentence for a variable that may not be set by a script.
pub(crate) fn sets(name: &str, entry: Entry) -> String {
    format!(
        "the variable \"{name}\" decides what other commands run and may not be set: it {entry}; leave it out"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Allowlist, SearchPath};

    fn objection(list: &str, name: &str, case: Case) -> Option<String> {
        let policy = Policy::new(Allowlist::parse(list), SearchPath::new("/bin".as_ref()));
        policy.objection_to_setting(name, case).map(|entry| entry.to_string())
    }

    #[test]
    fn a_refusal_names_the_program_and_what_the_variable_does_there() {
        let said = |name| objection("*", name, Case::AsPrograms).unwrap();
        assert_eq!(said("LD_PRELOAD"), "names libraries that every program loads (ld.so)");
        assert_eq!(said("GCC_EXEC_PREFIX"), "is where gcc finds the programs and files it uses (gcc)");
        assert_eq!(said("SECONDS"), "evaluates what it is given (bash)");
    }

    #[test]
    fn names_in_lower_case_belong_to_scripts_unless_a_program_reads_them_so() {
        for name in ["path", "home", "git_dir", "go_version", "cc", "test_flags", "build_command"] {
            assert_eq!(objection("*", name, Case::AsPrograms), None, "{name}");
            assert!(objection("*", name, Case::Any).is_some(), "{name}");
        }
        for name in [
            "npm_config_script_shell",
            "NpM_config_script_shell",
            "yarn_plugins",
            "MsBuildSdksPath",
            "shell_escape",
        ] {
            assert!(objection("*", name, Case::AsPrograms).is_some(), "{name}");
        }
        assert_eq!(objection("*", "npm_config_loglevel", Case::AsPrograms), None);
    }

    #[test]
    fn every_program_that_runs_code_stands_once_with_how_it_does() {
        let lines: Vec<&str> = RUNS_CODE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.is_sorted() && lines.len() > 20);
        assert!(
            lines.iter().all(|line| line.split_once(" | ").is_some_and(|(_, how)| how.len() > 8)),
            "{lines:?}"
        );
    }

    #[test]
    fn a_program_that_runs_code_anyway_may_be_given_its_own() {
        for (list, name) in [
            ("ls,cargo", "CARGO_TARGET_DIR"),
            ("cargo", "RUSTFLAGS"),
            ("go", "GOFLAGS"),
            ("npm", "npm_config_registry"),
            ("pip3", "PIP_INDEX_URL"),
            ("make", "CFLAGS"),
            ("pytest", "PYTEST_ADDOPTS"),
            ("cmake", "CMAKE_PREFIX_PATH"),
        ] {
            assert_eq!(objection(list, name, Case::AsPrograms), None, "{list} {name}");
        }
    }

    #[test]
    fn a_pager_or_an_editor_may_be_one_that_ends_at_once() {
        let policy = Policy::new(Allowlist::parse("git"), SearchPath::new("/bin".as_ref()));
        for (name, value) in
            [("GIT_PAGER", "cat"), ("EDITOR", "true"), ("VISUAL", ":"), ("GIT_ASKPASS", "/bin/true")]
        {
            assert!(policy.is_tame_program(name, Some(value)), "{name}={value}");
        }
        for (name, value) in
            [("GIT_PAGER", "./cat"), ("EDITOR", "vi"), ("PAGER", "cat x"), ("GIT_SSH", "true"), ("PATH", "")]
        {
            assert!(!policy.is_tame_program(name, Some(value)), "{name}={value}");
        }
        assert!(!policy.is_tame_program("PAGER", None));
    }

    #[test]
    fn an_interpreter_that_is_listed_by_name_may_be_given_its_own() {
        assert_eq!(objection("ls,python3", "PYTHONPATH", Case::Any), None);
        assert_eq!(objection("/usr/bin/python3.11", "PYTHONPATH", Case::Any), None);
        assert_eq!(objection("node", "NODE_OPTIONS", Case::Any), None);
        for (list, name) in [
            ("*", "PYTHONPATH"),
            ("ls", "PYTHONPATH"),
            ("pip", "PYTHONPATH"),
            ("python3", "LD_PRELOAD"),
            ("python3", "PERL5OPT"),
            ("python3-config", "PYTHONPATH"),
            ("git", "GIT_SSH_COMMAND"),
            ("git", "GIT_PAGER"),
            ("gcc", "COMPILER_PATH"),
            ("less", "LESSOPEN"),
            ("cargo", "LD_PRELOAD"),
            ("cargo", "NODE_OPTIONS"),
            ("npm", "PYTHONPATH"),
            ("make", "BASH_ENV"),
        ] {
            assert!(objection(list, name, Case::Any).is_some(), "{list} {name}");
        }
    }
}
