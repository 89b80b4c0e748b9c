//! From the configuration to the parts of the program.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use runward_audit::Trail;
use runward_audit::redact::looks_secret;
use runward_engine::{
    ApprovalSettings, AtDoor, Engine, LoginSettings, NamedWorkspaces, OutputSettings, Sandboxing,
};
use runward_model::{Principal, Profile, Tier};
use runward_policy::{Allowlist, EnvironmentRules, Glob, Policy, PrefixRule, Rego, SearchPath, Watch};
use runward_process::RunnerProgram;
use runward_proxy::Reach;
use runward_sandbox::{CacheSettings, Homes, Layers, Projects};
use runward_server::approvals::LocalDesk;
use runward_server::{HttpSettings, RAW, RawSettings, Roles, Tokens, http};

use crate::config::{Config, Output, Place, ShellTool, Token, rules_file, temporary_size};
use crate::inheritance::{environment, left_out, withheld};
use crate::state::{State, can_be_written};
use crate::trail;

/// Where programs are looked for when the server itself has no `PATH`, as shells do.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// An engine for this configuration; it starts nothing by itself.
pub(crate) fn engine(config: &Config) -> Engine {
    engine_beside(config, None)
}

/// The same in a process that has taken more descriptors for itself than its commands may have.
pub(crate) fn engine_beside(config: &Config, descriptors: Option<u64>) -> Engine {
    let policy = policy(config);
    let environment = environment(std::env::vars_os(), &policy.path().to_variable(), &config.shell_tool);
    let settings = runward_engine::Settings {
        policy: policy.into(),
        cwd_roots: config.policy.cwd_roots.clone(),
        allowed_directories: config.shell_tool.allowed_directories.clone(),
        log_commands: config.shell_tool.log_commands,
        environment,
        output_limit: config.limits.output.min(config.shell_tool.max_output_size),
        kill_grace: config.limits.kill_grace,
        shutdown_grace: config.limits.shutdown_grace,
        drain_grace: config.limits.drain_grace,
        background: config.process.background,
        limits: config.usage(),
        sandboxing: sandboxing(config),
        trail: audit_trail(config),
        redact: config.secrets.redact,
        secrets: secret_values(config),
        max_sessions: config.limits.sessions,
        queue_wait: config.limits.queue_wait,
        max_kept: config.limits.kept_sessions,
        publish: config.sandbox.publish.clone(),
        workspaces: NamedWorkspaces { most: config.raw.workspaces, keep: config.raw.workspace_keep },
        output: output_settings(config),
        login: login_settings(config),
        approvals: approval_settings(config),
        abort_file: abort_file(config),
    };
    let engine = Engine::with_runner(
        settings,
        RunnerProgram {
            containment: config.process.containment,
            tier: tier(config),
            descriptors,
            ..RunnerProgram::default()
        },
    );
    if config.approvals.local {
        let (directory, notice) = (approvals_directory(config), config.approvals.notice);
        engine.attach(Arc::new(LocalDesk::new(directory, notice, engine.peers().clone())));
    }
    engine
}

fn approval_settings(config: &Config) -> ApprovalSettings {
    let approvals = &config.approvals;
    ApprovalSettings {
        policy: config.approval_policy,
        timeout: approvals.timeout,
        rules_file: rules_file(approvals).filter(|_| approvals.request_rule),
        escalations: config.escalations.clone(),
    }
}

/// Where servers take answers from this machine.
pub(crate) fn approvals_directory(config: &Config) -> PathBuf {
    let usual = || State::of_this_user().path().join("approvals");
    config.approvals.directory.clone().unwrap_or_else(usual)
}

/// The operator's rules, with names looked up where this program looks them up.
pub(crate) fn policy(config: &Config) -> Policy {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let policy = |allowlist| {
        let usual = sandboxing(config).usual;
        Policy::new(allowlist, SearchPath::new(&path))
            .with_writable(move |file| usual.may_be_written(file))
            .with_rules(config.rules.rules.clone())
            .with_environment(environment_rules(&config.shell_tool))
    };
    let Some(directory) = &config.policy.directory else { return policy(config.rules.allowlist.clone()) };
    // A list that nobody wrote does not narrow what the rules in Rego allow.
    let unlisted = || Allowlist::parse("*").found_at("POLICY_DIR");
    let allowlist = if config.rules.listed { config.rules.allowlist.clone() } else { unlisted() };
    policy(allowlist).with_rego(Rego::load(directory))
}

/// Keeps the rules in Rego as their files are, for as long as what it returns is kept.
pub(crate) fn watch_policy(config: &Config, engine: &Engine) -> anyhow::Result<Option<Watch>> {
    let directory = config.policy.directory.as_ref();
    Ok(directory.map(|directory| Watch::begin(engine.rulebook(), directory)).transpose()?)
}

/// What commands are confined to. Settings and state of ours are nobody's to read.
pub(crate) fn sandboxing(config: &Config) -> Sandboxing {
    let told = config.sandbox.clone();
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let projects = projects(config, home.as_deref());
    let layers = cache_layers(&State::of_this_user());
    let usual = runward_sandbox::Settings {
        profile: told.profile,
        writable_roots: told.writable_roots,
        deny_read: told.deny_read,
        own: own_places(config).into_iter().chain(others_cannot_read(config)).collect(),
        visible: places_of_work(config),
        kept: what_decides(config),
        fallback: config.sandbox.fallback(),
        // Temporary files are memory: a command has no more of it than its limit says.
        temporary_size: temporary_size(told.temporary_size, config.usage().memory),
        keep: told.keep,
        held: Some(State::of_this_user().path().join("held")),
        caches: CacheSettings::new(&told.caches, &projects.homes, &kept_in_caches(&projects), layers),
        projects,
        home,
    };
    let networks =
        [("run_network_tool", config.network_tool.network.clone()), ("raw", config.raw.network.clone())];
    let networks =
        networks.map(|(door, reach)| AtDoor { door: door.into(), profile: None, reach: Some(reach) });
    let narrower = told.doors.into_iter();
    let narrower = narrower.map(|(door, profile)| AtDoor { door, profile: Some(profile), reach: None });
    Sandboxing { usual, reach: told.network, doors: networks.into_iter().chain(narrower).collect() }
}

/// What commands execute or read that others are to have put there: it may lie in a cache.
fn kept_in_caches(projects: &Projects) -> Vec<PathBuf> {
    projects.programs.iter().cloned().chain([shown_to_commands()]).collect()
}

/// Where what commands write to caches is kept; nowhere where there is no home.
pub(crate) fn cache_layers(state: &State) -> Option<PathBuf> {
    match state {
        State::Lasting(state) => Some(state.join("caches")),
        State::Temporary(_) => None,
    }
}

/// Lets go of what takes too much of that, beside everything else: it takes as long as it takes to look at all of it.
pub(crate) fn collect_caches(config: &Config) {
    let Some(directory) = cache_layers(&State::of_this_user()) else { return };
    let (quota, keep) = (config.sandbox.cache_quota, config.sandbox.cache_keep);
    let collect = move || match Layers::below(directory).collect(quota, keep) {
        Ok(0) => {}
        Ok(freed) => tracing::info!(freed, "caches of workspaces were removed"),
        Err(error) => tracing::warn!(%error, "caches of workspaces cannot be removed"),
    };
    if let Err(error) = std::thread::Builder::new().name("caches".into()).spawn(collect) {
        tracing::warn!(%error, "no thread to remove caches of workspaces");
    }
}

/// What tells a project from other directories: what the operator and whoever started this server said.
fn projects(config: &Config, home: Option<&Path>) -> Projects {
    let absolute = |path: &PathBuf| path.is_absolute();
    let named = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from).filter(absolute);
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    Projects {
        roots: vec![config.policy.cwd_roots.clone(), config.shell_tool.allowed_directories.clone()],
        named: std::env::current_dir().into_iter().chain(named).collect(),
        homes: Homes::of_this_host(home),
        programs: std::env::split_paths(&path).filter(absolute).collect(),
        ceilings: std::env::var_os("GIT_CEILING_DIRECTORIES")
            .map(|paths| std::env::split_paths(&paths).filter(absolute).collect())
            .unwrap_or_default(),
    }
}

/// Where the operator has commands work: there they can read each other's directories.
fn places_of_work(config: &Config) -> Vec<PathBuf> {
    let named = config.policy.cwd_roots.iter().chain(&config.shell_tool.allowed_directories).cloned();
    std::env::current_dir().into_iter().chain(named).collect()
}

/// What is not used is not tried either: that takes some milliseconds.
fn tier(config: &Config) -> Tier {
    let is_open = |profile: Profile| profile == Profile::FullAccess;
    let by_rule = config.rules.rules.prefixes.iter().filter_map(PrefixRule::profile);
    let narrower = config.sandbox.doors.iter().map(|(_, profile)| *profile).chain(by_rule);
    let mut wanted = std::iter::once(config.sandbox.profile).chain(narrower);
    // What rules in Rego will want is not known before they are asked.
    if config.policy.directory.is_none() && wanted.all(is_open) { Tier::None } else { Tier::Full }
}

/// What decides about commands: nothing that they may change, and nothing that they may put there.
fn what_decides(config: &Config) -> Vec<PathBuf> {
    let files = [&config.file, &config.approvals.rules_file, &config.policy.directory];
    files.into_iter().flatten().filter(|path| path.is_absolute()).cloned().collect()
}

/// Where this program keeps what commands may not see.
fn own_places(config: &Config) -> Vec<PathBuf> {
    let settings = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".config")))
        .map(|directory| directory.join("runward"));
    let trail = match &config.audit.place {
        Place::Named(path) => Some(path.clone()),
        Place::Usual => None,
    };
    let state = Some(State::of_this_user().path().to_owned());
    let approvals = [config.approvals.rules_file.clone(), config.approvals.directory.clone()];
    let others = [config.file.clone(), config.output.directory.clone(), config.workflow.abort_file.clone()];
    let places = [settings, trail, state].into_iter().chain(approvals).chain(others);
    places.flatten().filter(|path| path.is_absolute()).collect()
}

/// What of the system only root can read, but for what the operator has commands work in.
fn others_cannot_read(config: &Config) -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let mut used: Vec<PathBuf> = std::env::split_paths(&path).chain(std::env::home_dir()).collect();
    used.extend(places_of_work(config).into_iter().chain(config.sandbox.writable_roots.clone()));
    let is_used = move |closed: &&PathBuf| used.iter().any(|used| used.starts_with(closed));
    runward_sandbox::only_roots().iter().filter(move |closed| !is_used(closed)).cloned()
}

/// The trail that every call is written to, unless the settings want none. Nothing is opened or made yet.
fn audit_trail(config: &Config) -> Option<Arc<Trail>> {
    config.audit.enabled.then(|| Arc::new(trail::open_to_write(&config.audit)))
}

/// The values of the server's own variables that must not be shown.
fn secret_values(config: &Config) -> Vec<Vec<u8>> {
    let is_secret =
        |name: &str| looks_secret(name) || config.secrets.variables.iter().any(|named| named == name);
    let secret =
        std::env::vars_os().filter(|(name, _)| config.secrets.redact && name.to_str().is_some_and(is_secret));
    secret.map(|(_, value)| value.into_encoded_bytes()).collect()
}

/// The file that stops everything while it exists.
pub(crate) fn abort_file(config: &Config) -> PathBuf {
    config.workflow.abort_file.clone().unwrap_or_else(|| State::of_this_user().path().join("abort"))
}

fn output_settings(config: &Config) -> OutputSettings {
    let Output { directory, quota, keep } = config.output.clone();
    let directory = directory.unwrap_or_else(|| State::of_this_user().path().join("output"));
    OutputSettings { directory, quota, keep }
}

fn login_settings(config: &Config) -> LoginSettings {
    LoginSettings {
        timeout: config.shell_tool.login_timeout,
        directory: shown_to_commands().join("login"),
        withheld: withheld(&config.shell_tool),
    }
}

/// A directory of ours that confined commands may read, unlike the state itself: the user's cache.
fn shown_to_commands() -> PathBuf {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let cache = cache.map(|cache| cache.join("runward")).filter(|cache| can_be_written(cache));
    cache.unwrap_or_else(|| State::of_this_user().path().to_owned())
}

fn environment_rules(told: &ShellTool) -> EnvironmentRules {
    let globs = |names: &[String]| names.iter().map(Glob::new).collect();
    EnvironmentRules {
        given: told.environment,
        allow: globs(&told.environment_allow),
        deny: globs(&told.environment_deny),
    }
}

/// What the doors are told.
pub(crate) fn server_settings(config: &Config, tokens: Tokens) -> runward_server::Settings {
    runward_server::Settings {
        tools: config.tools.clone(),
        default_timeout: *config.limits.default_timeout,
        max_timeout: *config.limits.max_timeout,
        shell_default_timeout: *config.shell_tool.default_timeout,
        shell_max_timeout: *config.shell_tool.max_timeout,
        reply_size: config.shell_tool.reply_size.min(config.shell_tool.max_output_size),
        heartbeat: config.mcp.heartbeat,
        patience: config.mcp.patience,
        longest_poll: config.limits.longest_poll,
        reply_tokens: config.limits.reply_tokens,
        confinement: [confinement(config), left_out_variables(config)].join(" ").trim().to_owned(),
        http: HttpSettings {
            bind: config.http.bind,
            tokens,
            raw_is_open: config.tools.is_empty() || config.tools.iter().any(|name| name == RAW),
            allowed_hosts: config.http.allowed_hosts.clone(),
            allowed_origins: config.http.allowed_origins.clone(),
            max_body: config.http.max_body,
            limits: http::Limits {
                head: config.http.head_timeout,
                body: config.http.body_timeout,
                idle: config.http.idle_timeout,
                connections: config.http.max_connections,
            },
            raw: RawSettings { timeout: config.raw.timeout },
        },
    }
}

/// Who may call over HTTP: whoever shows `given`, a token of the settings, or the one that this user has made.
pub(crate) fn tokens(config: &Config, given: Option<&str>) -> anyhow::Result<Tokens> {
    let tokens = given.map_or_else(Tokens::default, |given| Tokens::default().with(given));
    let known = |tokens: Tokens, known: &Token| {
        let principal = Principal::named(&known.name);
        tokens.known(principal, known.hash, Roles::new(&known.roles))
    };
    let tokens = config.tokens.iter().fold(tokens, known);
    let file = State::token_file();
    // One that cannot be read must not pass for none.
    runward_client::token(&file)?;
    Ok(tokens.own(move || runward_client::token(&file).ok().flatten()))
}

/// What a caller should know of how commands are confined.
fn confinement(config: &Config) -> String {
    let writes = match config.sandbox.profile {
        Profile::FullAccess => return String::new(),
        Profile::ReadOnly => "write only to",
        Profile::WorkspaceWrite => "write below their working directory and to",
    };
    let network = match &config.sandbox.network {
        Reach::Off => "have no network but a loopback of their own",
        Reach::Listed(_) => "reach listed hosts alone, through the proxy that http_proxy names",
        Reach::On => "have the network of this machine",
    };
    let temporary = "a private /tmp that is empty for every call";
    format!(
        "Commands run in a sandbox: they {writes} {temporary}, and {network}; what the sandbox refuses is named."
    )
}

/// More variables that commands do not get are counted and not named.
const MOST_LEFT_OUT: usize = 12;

/// What a caller should know of the environment of commands.
fn left_out_variables(config: &Config) -> String {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let left = left_out(names, &config.shell_tool);
    if left.is_empty() {
        return String::new();
    }
    let more = left.len().saturating_sub(MOST_LEFT_OUT);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let some: Vec<&str> = left.iter().take(MOST_LEFT_OUT).map(String::as_str).collect();
    format!(
        "Commands do not get these variables of the server: {}{more} (shell_tool.inherit_also changes this).",
        some.join(", ")
    )
}

/// A server that refuses everything is most likely one that was not told what to allow.
pub(crate) fn warn_if_nothing_may_run(config: &Config) {
    let policy = policy(config);
    if !policy.allows_something() {
        tracing::warn!(
            "no command is allowed; set ALLOWED_COMMANDS, such as ALLOWED_COMMANDS=ls,cat, or POLICY_DIR"
        );
    }
    if let Some(fault) = policy.rego().and_then(Rego::fault) {
        tracing::error!(fault, "the policy is broken; nothing is allowed until it is mended");
    }
}

/// How many threads there are at most for what takes a while, and how long they are kept.
const MOST_THREADS: usize = 32;
const FOR_EVER: Duration = Duration::from_hours(24 * 365 * 10);

/// Runs a server on this thread until it is done.
pub(crate) fn block_on<T>(server: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    runward_process::secret::guard_memory();
    runward_process::memory::share_one_heap();
    // What takes a while is done on other threads. Where the system grants no more of them, tokio makes do with those that
    // it has and panics when it has none; so there is always one.
    std::thread::Builder::new()
        .spawn(|| {})
        .map(|tried| drop(tried.join()))
        .context("cannot start a thread; the limit on processes is reached (ulimit -u, or pids.max)")?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_THREADS)
        .thread_keep_alive(FOR_EVER)
        .build()?;
    runtime.block_on(runtime.spawn_blocking(|| {}))?;
    let result = runtime.block_on(server);
    // A read that still waits on a blocking thread must not hold up the exit.
    runtime.shutdown_background();
    result
}
