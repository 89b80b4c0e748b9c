//! From the configuration to the parts of the program.

use std::ffi::{OsStr, OsString};
use std::future::Future;

use runward_engine::Engine;
use runward_policy::{Allowlist, Policy, SearchPath};
use runward_process::RunnerProgram;
use runward_server::{HttpSettings, Token};

use crate::config::Config;

/// Where programs are looked for when the server itself has no `PATH`, as shells do.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An engine for this configuration; it starts nothing by itself.
pub(crate) fn engine(config: &Config) -> Engine {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let path = SearchPath::new(&path);
    let environment = environment(std::env::vars_os(), &path.to_variable());
    let allowlist = Allowlist::parse(&config.policy.allowed_commands.join(","));
    let settings = runward_engine::Settings {
        policy: Policy::new(allowlist, path),
        cwd_roots: config.policy.cwd_roots.clone(),
        environment,
        output_limit: config.limits.output,
        kill_grace: config.limits.kill_grace,
        shutdown_grace: config.limits.shutdown_grace,
        drain_grace: config.limits.drain_grace,
        limits: config.limits.usage,
        max_sessions: config.limits.sessions,
    };
    Engine::with_runner(
        settings,
        RunnerProgram { containment: config.containment, ..RunnerProgram::default() },
    )
}

/// What the doors are told.
pub(crate) fn server_settings(config: &Config, token: Option<Token>) -> runward_server::Settings {
    runward_server::Settings {
        tools: config.tools.clone(),
        default_timeout: config.limits.default_timeout,
        max_timeout: config.limits.max_timeout,
        heartbeat: config.heartbeat,
        http: HttpSettings {
            bind: config.http.bind,
            token,
            allowed_hosts: config.http.allowed_hosts.clone(),
            allowed_origins: config.http.allowed_origins.clone(),
            max_body: config.http.max_body,
        },
    }
}

/// A server that refuses everything is most likely one that was not told what to allow.
pub(crate) fn warn_if_nothing_may_run(config: &Config) {
    if config.policy.allowed_commands.is_empty() {
        tracing::warn!("no command is allowed; set ALLOWED_COMMANDS, such as ALLOWED_COMMANDS=ls,cat");
    }
}

/// Runs a server on this thread until it is done.
pub(crate) fn block_on<T>(server: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    runward_process::secret::guard_memory();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(server);
    // A read that still waits on a blocking thread must not hold up the exit.
    runtime.shutdown_background();
    result
}

/// What commands inherit: the server's variables, but nothing that configures the server, and the `PATH` that
/// the policy judges by.
fn environment(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    path: &OsStr,
) -> Vec<(OsString, OsString)> {
    let is_ours = |name: &OsStr| name == "PATH" || name.as_encoded_bytes().starts_with(b"RUNWARD_");
    let kept = inherited.filter(|(name, _)| !is_ours(name));
    kept.chain([("PATH".into(), path.to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_inherit_everything_but_our_own_variables_and_the_judged_path() {
        let inherited = [("HOME", "/h"), ("PATH", "rel:/bin"), ("RUNWARD_TOKEN", "s"), ("RUNWARDEN", "x")];
        let inherited = inherited.into_iter().map(|(name, value)| (name.into(), value.into()));
        let kept = environment(inherited, OsStr::new("/bin"));
        let wanted = [("HOME", "/h"), ("RUNWARDEN", "x"), ("PATH", "/bin")];
        assert_eq!(kept, wanted.map(|(name, value)| (name.into(), value.into())));
    }
}
