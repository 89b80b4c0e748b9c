//! Which of the server's variables commands get.

use std::ffi::{OsStr, OsString};

use runward_engine::Withheld;
use runward_policy::Glob;

use crate::config::{Inherit, ShellTool};

/// What most programs expect, by name or pattern.
const CORE: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TZ",
    "HOSTNAME",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    // Where tools are that were not installed in the usual place.
    "CARGO_HOME",
    "CONDA_PREFIX",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "VIRTUAL_ENV",
];

/// What a secret is usually called.
const SECRETS: &[&str] = &["*KEY*", "*SECRET*", "*TOKEN*", "*PASSWORD*"];

/// What configures the server.
const OURS: &[&str] = &["RUNWARD_*", "ALLOWED_COMMANDS", "ALLOWED_CWD_ROOTS", "POLICY_DIR", "MCP_BIND_ADDR"];

/// What speaks of the server's own shell and terminal, and would mean nothing to a command.
const OF_THE_SESSION: &[&str] =
    &["_", "PWD", "OLDPWD", "SHLVL", "LS_COLORS", "LINES", "COLUMNS", "LESS*", "PS1", "XDG_SESSION_*"];

/// What commands get of the server's variables: never what configures the server, and the `PATH` that the policy
/// judges by.
pub(crate) fn environment(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    path: &OsStr,
    told: &ShellTool,
) -> Vec<(OsString, OsString)> {
    let inherits = Inherits::of(told);
    let kept = inherited.filter(|(name, _)| inherits.passes(&name.to_string_lossy()));
    kept.chain([("PATH".into(), path.to_owned())]).collect()
}

/// The names of the server's variables that commands do not get, of those that somebody may have meant them to have.
pub(crate) fn left_out(names: impl Iterator<Item = String>, told: &ShellTool) -> Vec<String> {
    let inherits = Inherits::of(told);
    let of_ours = |name: &str| name == "PATH" || fits(OURS, name) || fits(OF_THE_SESSION, name);
    let mut left: Vec<String> = names.filter(|name| !of_ours(name) && !inherits.passes(name)).collect();
    left.sort();
    left
}

/// Which names are inherited.
struct Inherits {
    inherit: Inherit,
    core: Vec<Glob>,
    named: Vec<Glob>,
    denied: Vec<Glob>,
}

impl Inherits {
    fn of(told: &ShellTool) -> Self {
        let core = told.inherit_core.iter().map(Glob::new).collect();
        Inherits { inherit: told.inherit, core, named: named(told), denied: denied(told) }
    }

    fn passes(&self, name: &str) -> bool {
        let is_in = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(name));
        let core = self.inherit != Inherit::None && is_in(&self.core) && !fits(OURS, name) && name != "PATH";
        !is_in(&self.denied) && (core || passes(name, self.inherit, &self.named))
    }
}

/// What commands do not get although start-up files set it, by the same rules: whatever the files set is wanted, unless
/// it looks secret or is ours.
pub(crate) fn withheld(told: &ShellTool) -> Withheld {
    let always = denied(told).into_iter().chain([Glob::new("RUNWARD_*")]).collect();
    let secret = SECRETS.iter().copied().map(Glob::new).collect();
    Withheld { always, secret, except: named(told) }
}

/// What the operator named, so that it is inherited whatever it looks like.
fn named(told: &ShellTool) -> Vec<Glob> {
    told.inherit_also.iter().chain(&told.environment_allow).map(Glob::new).collect()
}

fn denied(told: &ShellTool) -> Vec<Glob> {
    told.environment_deny.iter().map(Glob::new).collect()
}

fn passes(name: &str, inherit: Inherit, also: &[Glob]) -> bool {
    if name == "PATH" || name.starts_with("RUNWARD_") {
        return false;
    }
    let named = also.iter().any(|glob| glob.matches(name));
    let wanted = match inherit {
        Inherit::Core => fits(CORE, name),
        Inherit::All => true,
        Inherit::None => false,
    };
    named || wanted && !fits(SECRETS, &name.to_uppercase())
}

fn fits(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| Glob::new(*pattern).matches(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVERS: &[&str] = &[
        "HOME",
        "LC_ALL",
        "PATH",
        "RUNWARD_TOKEN",
        "RUNWARDEN",
        "EDITOR",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "db_password",
        "LC_KEY",
    ];

    fn kept(inherit: Inherit, also: &[&str]) -> Vec<&'static str> {
        let also: Vec<Glob> = also.iter().copied().map(Glob::new).collect();
        SERVERS.iter().copied().filter(|name| passes(name, inherit, &also)).collect()
    }

    #[test]
    fn by_default_commands_get_what_most_programs_expect() {
        assert_eq!(kept(Inherit::Core, &[]), ["HOME", "LC_ALL"]);
        assert_eq!(kept(Inherit::None, &[]), Vec::<&str>::new());
    }

    #[test]
    fn all_is_all_but_secrets_and_our_own() {
        assert_eq!(kept(Inherit::All, &[]), ["HOME", "LC_ALL", "RUNWARDEN", "EDITOR"]);
    }

    #[test]
    fn what_the_settings_name_belongs_to_the_core_and_what_is_left_out_is_known() {
        let inherits = |inherit| Inherits {
            inherit,
            core: ["CI", "*_proxy", "SSH_AUTH_SOCK", "*"].iter().copied().take(3).map(Glob::new).collect(),
            named: Vec::new(),
            denied: vec![Glob::new("no_proxy")],
        };
        let core = inherits(Inherit::Core);
        for name in ["CI", "https_proxy", "SSH_AUTH_SOCK", "HOME"] {
            assert!(core.passes(name), "{name}");
        }
        for name in ["no_proxy", "GITHUB_TOKEN", "PATH", "RUNWARD_TOKEN"] {
            assert!(!core.passes(name), "{name}");
        }
        assert!(!inherits(Inherit::None).passes("CI") && inherits(Inherit::All).passes("CI"));
    }

    #[test]
    fn what_is_named_is_inherited_although_it_looks_secret() {
        assert_eq!(
            kept(Inherit::None, &["GITHUB_TOKEN", "AWS_*"]),
            ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"]
        );
        assert_eq!(kept(Inherit::Core, &["*"]).len(), SERVERS.len() - 2, "never PATH as it stands, nor ours");
    }
}
