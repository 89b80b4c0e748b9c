//! Runners that are none of this program's.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::os::unix::fs::PermissionsExt;

use runward_process::{RunnerProgram, Spawner};

/// Why a program that says this to its server cannot be its runner.
async fn refused(says: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runner");
    std::fs::write(&path, format!("#!/bin/sh\nprintf '{says}' >&0\ncat <&0 >/dev/null\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let spawner = Spawner::new(RunnerProgram { path, ..RunnerProgram::default() });
    spawner.abilities().await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_runner_of_another_version_is_told_so() {
    let told = refused(r"RWRD\007\000\000\000").await;
    let expected = format!(
        "speaks version 7 of the protocol, and this program version {}",
        runward_model::wire::VERSION
    );
    assert!(told.contains(&expected), "{told}");
}

#[tokio::test]
async fn a_runner_that_is_none_is_told_so() {
    let told = refused("hello").await;
    assert!(told.contains("does not speak this protocol"), "{told}");
}
