//! Which shell runs a script.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;

use runward_engine::Settings;
use runward_model::Refusal;
use runward_policy::{Allowlist, Policy, SearchPath};

use crate::setup::*;

/// A search path with these programs alone.
fn path_of(directory: &std::path::Path, programs: &[&str]) -> Settings {
    for program in programs {
        symlink(format!("/bin/{program}"), directory.join(program)).unwrap();
    }
    let path = SearchPath::new(directory.as_os_str());
    Settings { policy: Policy::new(Allowlist::parse("*"), path).into(), ..settings() }
}

#[test]
fn bash_runs_scripts_and_where_there_is_none_sh_does() {
    let directory = tempfile::tempdir().unwrap();
    under_each_containment(async |engine| {
        assert_eq!(text(&run(engine, line("echo ${BASH_VERSION:+bash}")).await.stdout.head), "bash\n");
    });
    under_each_containment_with(&path_of(directory.path(), &["sh"]), async |engine| {
        assert_eq!(text(&run(engine, line("echo one; echo $0")).await.stdout.head), "one\nsh\n");
    });
}

#[test]
fn what_sh_would_read_in_another_way_does_not_run() {
    let directory = tempfile::tempdir().unwrap();
    under_each_containment_with(&path_of(directory.path(), &["sh"]), async |engine| {
        let refusal = start(engine, line(r"echo $'\'; exit 7; echo \''")).await.unwrap_err();
        let Refusal::StartFailed { program, reason } = refusal else { panic!("{refusal}") };
        assert_eq!(program.as_os_str(), OsStr::new("sh"));
        assert!(reason.contains("no bash on PATH"), "{reason}");
    });
}
