//! `runward doctor`: every forbidden act is tried, as whoever runs the tests and as an ordinary user, and none gets
//! through.

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;

use runward_testkit::skipped;
use serde_json::Value;

const NOBODY: u32 = 65534;

/// Acts that somebody without privileges cannot do anyway, or that nothing happens to answer here.
const NEED_MORE: usize = 31;

#[expect(clippy::disallowed_methods, reason = "a test starts the program under test")]
fn doctor(home: &Path, as_nobody: bool, words: &[&str], variables: &[(&str, &str)]) -> (i32, Value) {
    let program = env!("CARGO_BIN_EXE_runward");
    let mut command = if as_nobody {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
        command
    } else {
        Command::new(program)
    };
    let output = command
        .args(["doctor", "--json"])
        .args(words)
        .env("HOME", home)
        .env_remove("XDG_STATE_HOME")
        .envs(variables.iter().copied())
        .current_dir(home)
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout);
    let value = value.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().unwrap(), value)
}

/// A home that is not among temporary files, where everything outside would be out of sight.
fn home() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn got_through(value: &Value) -> Vec<&str> {
    let acts = value["acts"].as_array().unwrap().iter();
    acts.filter(|act| act["refused"].is_null()).map(|act| act["act"].as_str().unwrap()).collect()
}

fn nothing_gets_through(as_nobody: bool) {
    let home = home();
    if as_nobody {
        chown(home.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let (_, open) = doctor(home.path(), as_nobody, &["--unconfined"], &[]);
    let (real, count) = (got_through(&open).len(), open["tried"].as_u64().unwrap());
    assert!(
        real + NEED_MORE >= usize::try_from(count).unwrap() && count > 70,
        "{real} of {count} acts are real"
    );
    for profile in ["workspace-write", "read-only"] {
        let (code, told) = doctor(home.path(), as_nobody, &[], &[("RUNWARD_SANDBOX_PROFILE", profile)]);
        if told["tier"] != "full" {
            skipped(&format!("this host enforces only {}: {}", told["tier"], told["remedy"]));
            return;
        }
        assert_eq!(got_through(&told), Vec::<&str>::new(), "{profile}");
        assert_eq!((code, &told["got_through"], &told["sound"]), (0, &0.into(), &true.into()), "{told:#}");
        assert_eq!(told["tried"], open["tried"]);
    }
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new(), "the doctor leaves nothing behind");
}

#[test]
fn no_forbidden_act_gets_through() {
    nothing_gets_through(false);
}

#[test]
fn no_forbidden_act_of_an_ordinary_user_gets_through() {
    if !rustix::process::geteuid().is_root() {
        return skipped("only root can become another user; the other test runs as an ordinary one");
    }
    nothing_gets_through(true);
}

#[test]
fn with_the_network_on_everything_else_is_kept() {
    let home = home();
    let (code, told) = doctor(home.path(), false, &[], &[("RUNWARD_SANDBOX_NETWORK", "on")]);
    if told["tier"] != "full" {
        return skipped("this host has no namespaces");
    }
    assert_eq!(code, 0, "{told:#}");
    assert!(got_through(&told).contains(&"connect to the host"), "{told:#}");
}

#[test]
fn with_a_list_of_hosts_nothing_else_is_reached() {
    let home = home();
    let (code, told) = doctor(home.path(), false, &[], &[("RUNWARD_SANDBOX_NETWORK", "example.com")]);
    if told["tier"] != "full" {
        return skipped("this host has no namespaces");
    }
    assert_eq!((code, &told["network"], &told["got_through"]), (0, &"allow".into(), &0.into()), "{told:#}");
    let acts = told["acts"].as_array().unwrap();
    let asked = acts.iter().find(|act| act["act"] == "have a proxy connect to the host").unwrap();
    assert_eq!(asked["refused"], "HTTP/1.1 403", "the proxy was there, and said no");
}
