//! What an engine for a test is told.

use std::time::Duration;

use runward_engine::{ApprovalSettings, Background, LoginSettings, OutputSettings, Sandboxing, Settings};
use runward_model::Limits;
use runward_policy::{Allowlist, Policy, SearchPath};

/// Everything may run, unconfined and unrecorded; graces are short.
pub fn engine_settings() -> Settings {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Settings {
        policy: Policy::new(Allowlist::parse("*"), SearchPath::new(&path)).into(),
        cwd_roots: Vec::new(),
        allowed_directories: Vec::new(),
        log_commands: true,
        environment: vec![("PATH".into(), path), ("LANG".into(), "C.UTF-8".into())],
        output_limit: 1 << 20,
        kill_grace: Duration::from_millis(200),
        shutdown_grace: Duration::from_millis(20),
        drain_grace: Duration::from_millis(200),
        background: Background::Kill,
        limits: Limits::default(),
        sandboxing: Sandboxing::none(),
        trail: None,
        redact: true,
        secrets: Vec::new(),
        max_sessions: 64,
        queue_wait: Duration::ZERO,
        max_kept: 64,
        publish: Vec::new(),
        workspaces: runward_engine::NamedWorkspaces::default(),
        output: OutputSettings {
            directory: std::env::temp_dir().join(format!("runward-test-{}", std::process::id())),
            quota: 1 << 30,
            keep: Duration::from_mins(1),
        },
        login: LoginSettings::default(),
        approvals: ApprovalSettings::default(),
        abort_file: "/nowhere/abort".into(),
    }
}
