//! Commands of bash's own that need no entry in a list: they start nothing, and reach nothing that the line around them
//! does not reach already.
//!
//! Those that are programs too, such as `echo`, `printf` and `pwd`, need one like any program, but for those that say
//! no more than yes or no.

use crate::builtin_rules::kills_own_jobs;
use crate::facts::Word;
use crate::weigh::Scene;

/// What they are given is read elsewhere: what they would set, and the commands that `command`, `builtin` and `exec` start.
const FREE: &[&str] = &[
    ":",
    "[",
    "bg",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "continue",
    "declare",
    "dirs",
    "disown",
    "exec",
    "exit",
    "export",
    "false",
    "fg",
    "getopts",
    "hash",
    "help",
    "jobs",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unset",
    "wait",
];

/// Those of them that change where other commands run, and nothing where there are no others.
const MOVING: [&str; 3] = ["cd", "popd", "pushd"];

impl Scene<'_> {
    /// Whether bash does this by itself and nothing has to allow it.
    pub(crate) fn is_free(&self, words: &[Word], name: &str) -> bool {
        let args = words.get(1..).unwrap_or_default();
        let alone = MOVING.contains(&name) && self.case.shell.len() < 2;
        self.survey.is_some() && !alone && (FREE.contains(&name) || name == "kill" && kills_own_jobs(args))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use runward_model::{Decision, Work};

    use runward_script::is_builtin;

    use super::*;
    use crate::{Allowlist, Policy, SearchPath, read};

    fn decided(list: &str, line: &str) -> Decision {
        let policy = Policy::new(Allowlist::parse(list), SearchPath::new("/usr/bin:/bin".as_ref()));
        policy.judge(&read(&Work::Line(line.into())).unwrap(), Path::new("/")).decision
    }

    #[test]
    fn every_one_of_them_is_bashs_own() {
        assert!(FREE.iter().all(|name| is_builtin(name)));
        assert!(FREE.is_sorted());
    }

    #[test]
    fn what_bash_does_by_itself_needs_no_entry() {
        for line in [
            "set -e; cd /tmp && ls",
            "time ls",
            "exec 2>&1; ls",
            "ls & kill %1; kill -TERM $!",
            "command -v ls >/dev/null && ls",
            "ls || exit 3",
        ] {
            assert_eq!(decided("ls", line), Decision::Allow, "{line}");
            assert_eq!(decided("", line), Decision::Deny, "{line}");
        }
    }

    #[test]
    fn what_is_a_program_too_or_starts_one_needs_an_entry() {
        for line in [
            "pwd",
            "cd /tmp",
            "true",
            "ls; pwd",
            "ls; echo x",
            "ls; printf x",
            "ls; kill 1",
            "ls; kill $x",
            "ls & kill %1 1",
            "ls & kill -9 -1",
            "ls & kill -9 -9 %1",
            "ls & kill -s",
            "ls; command touch x",
            "exec touch x",
            "env cd /",
            "xargs read",
            "'time' ls",
            "command time ls",
        ] {
            assert_eq!(decided("ls,env,xargs", line), Decision::Deny, "{line}");
        }
    }
}
