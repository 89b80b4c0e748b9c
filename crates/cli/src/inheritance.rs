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

/// What commands get of the server's variables: never what configures the server, and the `PATH` that the policy
/// judges by.
pub(crate) fn environment(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    path: &OsStr,
    told: &ShellTool,
) -> Vec<(OsString, OsString)> {
    let (named, denied) = (named(told), denied(told));
    let kept = inherited
        .filter(|(name, _)| passes(&name.to_string_lossy(), told.inherit, &named))
        .filter(|(name, _)| !denied.iter().any(|glob| glob.matches(&name.to_string_lossy())));
    kept.chain([("PATH".into(), path.to_owned())]).collect()
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
    fn what_is_named_is_inherited_although_it_looks_secret() {
        assert_eq!(
            kept(Inherit::None, &["GITHUB_TOKEN", "AWS_*"]),
            ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"]
        );
        assert_eq!(kept(Inherit::Core, &["*"]).len(), SERVERS.len() - 2, "never PATH as it stands, nor ours");
    }
}
