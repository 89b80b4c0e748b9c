//! From settings to the sections of the configuration, with their bounds.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use super::approvals::Approvals;
use super::error::Error;
use super::origin::Origin;
use super::rules::RuleBook;
use super::settings::Settings;
use super::{
    Audit, Background, Config, Containment, Http, Limits, Log, LogFormat, Output, Policy, Sandbox, ShellTool,
    units,
};

/// Below the least nothing useful fits; above the most, a server could be made to hold more than its machine has.
const SIZES: RangeInclusive<usize> = 1 << 10..=256 << 20;

impl Config {
    /// Takes every setting and checks it.
    pub(super) fn read(settings: &mut Settings) -> Result<Self, Error> {
        let patience = Duration::from_secs(1)..=Duration::from_hours(24);
        let heartbeat = Duration::from_secs(1)..=Duration::from_mins(10);
        Ok(Config {
            file: None,
            tools: read_tools(settings)?,
            policy: Policy::read(settings)?,
            rules: RuleBook::read(settings)?,
            approvals: Approvals::read(settings)?,
            escalations: Vec::new(),
            shell_tool: ShellTool::read(settings)?,
            limits: Limits::read(settings)?,
            http: Http::read(settings)?,
            output: Output::read(settings)?,
            abort_file: read_path(settings, "workflow.abort_file")?,
            heartbeat: settings.duration("mcp.heartbeat", heartbeat)?,
            patience: settings.duration("mcp.patience", patience)?,
            containment: read_containment(settings)?,
            background: settings
                .choice("process.background", &[("kill", Background::Kill), ("keep", Background::Keep)])?,
            audit: Audit::read(settings)?,
            sandbox: Sandbox::read(settings)?,
            redact: settings.switch("secrets.redact")?,
            secret_variables: settings.list("secrets.variables")?.0,
            log: Log::read(settings)?,
        })
    }
}

/// Zero is no limit.
fn read_raw_timeout(settings: &mut Settings) -> Result<Option<Duration>, Error> {
    let timeout = settings.duration("raw.timeout", Duration::ZERO..=Duration::from_hours(24))?;
    Ok(Some(timeout).filter(|timeout| !timeout.is_zero()))
}

impl Policy {
    fn read(settings: &mut Settings) -> Result<Self, Error> {
        let (cwd_roots, _) = settings.list("policy.cwd_roots")?;
        let (directory, origin) = settings.text("policy.directory")?;
        let directory = Some(directory).filter(|directory| !directory.is_empty());
        let failed = |error: std::io::Error| Error::setting(&origin, error.to_string());
        let directory = directory.map(std::path::absolute).transpose().map_err(failed)?;
        Ok(Policy { cwd_roots: cwd_roots.into_iter().map(PathBuf::from).collect(), directory })
    }
}

impl Limits {
    fn read(settings: &mut Settings) -> Result<Self, Error> {
        let grace = Duration::ZERO..=Duration::from_mins(1);
        let (default_timeout, max_timeout) = read_timeouts(settings)?;
        Ok(Limits {
            default_timeout,
            max_timeout,
            output: settings.size("limits.output", SIZES)?,
            sessions: settings.count("limits.sessions", 1..=4096)?,
            kill_grace: settings.duration("limits.kill_grace", grace.clone())?,
            shutdown_grace: settings.duration("limits.shutdown_grace", grace.clone())?,
            drain_grace: settings.duration("limits.drain_grace", grace)?,
            kept_sessions: settings.count("limits.kept_sessions", 1..=4096)?,
            longest_poll: settings
                .duration("limits.longest_poll", Duration::from_secs(5)..=Duration::from_hours(24))?,
            reply_tokens: settings.count("limits.reply_tokens", 16..=1_000_000)?,
            usage: read_usage(settings)?,
        })
    }
}

/// Zero is no limit.
fn read_usage(settings: &mut Settings) -> Result<runward_model::Limits, Error> {
    let some = |amount: usize| u64::try_from(amount).ok().filter(|amount| *amount > 0);
    let cpu_time = settings.duration("limits.cpu_time", Duration::ZERO..=Duration::from_hours(24))?;
    Ok(runward_model::Limits {
        memory: some(settings.size("limits.memory", 0..=1 << 40)?),
        processes: some(settings.count("limits.processes", 0..=1 << 22)?),
        cpu_time: Some(cpu_time).filter(|time| !time.is_zero()),
        file_size: some(settings.size("limits.file_size", 0..=1 << 50)?),
        open_files: some(settings.count("limits.open_files", 0..=1 << 20)?),
    })
}

impl Output {
    fn read(settings: &mut Settings) -> Result<Self, Error> {
        let keep = Duration::from_mins(1)..=Duration::from_hours(24 * 365);
        Ok(Output {
            directory: read_path(settings, "output.directory")?,
            quota: settings.size("output.quota", 1 << 20..=1 << 50)?,
            keep: settings.duration("output.keep", keep)?,
        })
    }
}

impl Http {
    fn read(settings: &mut Settings) -> Result<Self, Error> {
        let pause = Duration::from_millis(100)..=Duration::from_hours(1);
        Ok(Http {
            bind: settings.address("http.bind")?,
            allowed_hosts: settings.list("http.allowed_hosts")?.0,
            allowed_origins: settings.list("http.allowed_origins")?.0,
            max_body: settings.size("http.max_body", SIZES)?,
            head_timeout: settings.duration("http.head_timeout", pause.clone())?,
            body_timeout: settings.duration("http.body_timeout", pause.clone())?,
            idle_timeout: settings.duration("http.idle_timeout", pause)?,
            max_connections: settings.count("http.max_connections", 4..=65_536)?,
            raw_timeout: read_raw_timeout(settings)?,
            tokens: settings.take_tokens(),
        })
    }
}

impl Log {
    fn read(settings: &mut Settings) -> Result<Self, Error> {
        let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
        let format = settings.choice("log.format", &formats)?;
        let (filter, origin) = settings.text("log.filter")?;
        EnvFilter::try_new(&filter).map_err(|error| {
            let what = "is not a log filter; write a level such as \"info\", or levels by part such as \"info,rmcp=off\"";
            Error::setting(&origin, format!("{filter:?} {what} ({error})"))
        })?;
        Ok(Log { format, filter })
    }
}

fn read_timeouts(settings: &mut Settings) -> Result<(Duration, Duration), Error> {
    let bounds = Duration::from_millis(1)..=Duration::from_hours(24);
    let (default, default_origin) = settings.duration_from("limits.default_timeout", bounds.clone())?;
    let (max, max_origin) = settings.duration_from("limits.max_timeout", bounds)?;
    in_order("limits", (default, default_origin), (max, max_origin))
}

/// The default timeout of a section and its longest one, once the default is known to be at most that.
pub(super) fn in_order(
    section: &str,
    (default, default_origin): (Duration, Origin),
    (max, max_origin): (Duration, Origin),
) -> Result<(Duration, Duration), Error> {
    if default <= max {
        return Ok((default, max));
    }
    let origin = if default_origin.is_default() { max_origin } else { default_origin };
    let (default, max) = (units::show_duration(default), units::show_duration(max));
    let what = format!(
        "{section}.default_timeout ({default}) is longer than {section}.max_timeout ({max}); change either"
    );
    Err(Error::setting(&origin, what))
}

/// An absolute path; empty is the usual place.
pub(super) fn read_path(settings: &mut Settings, key: &str) -> Result<Option<PathBuf>, Error> {
    let (text, origin) = settings.text(key)?;
    let path = Some(PathBuf::from(&text)).filter(|path| !path.as_os_str().is_empty());
    match path {
        Some(path) if !path.is_absolute() => {
            Err(Error::setting(&origin, format!("{text:?} is not an absolute path")))
        }
        path => Ok(path),
    }
}

fn read_tools(settings: &mut Settings) -> Result<Vec<String>, Error> {
    let (tools, origin) = settings.list("tools")?;
    let known = [runward_server::tool_names(), vec![runward_server::RAW]].concat();
    match tools.iter().find(|tool| !known.contains(&tool.as_str())) {
        None => Ok(tools),
        Some(unknown) => {
            let what = format!("there is no tool {unknown:?}; the tools are {}", known.join(", "));
            Err(Error::setting(&origin, what))
        }
    }
}

fn read_containment(settings: &mut Settings) -> Result<Option<Containment>, Error> {
    let known = Containment::ALL.map(|containment| (containment.name(), Some(containment)));
    let choices = [&[("auto", None)], &known[..]].concat();
    settings.choice("process.containment", &choices)
}
