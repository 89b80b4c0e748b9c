//! Log lines go to standard error: standard output belongs to the protocol.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{Log, LogFormat};

/// Starts logging for the rest of the process.
pub(crate) fn start(log: &Log) -> anyhow::Result<()> {
    let lines = fmt().with_env_filter(EnvFilter::try_new(&log.filter)?).with_writer(io::stderr);
    let started = match log.format {
        LogFormat::Text => lines.with_ansi(wants_colour()).try_init(),
        LogFormat::Json => lines.json().try_init(),
    };
    started.map_err(anyhow::Error::from_boxed)
}

/// Colours for a person's terminal, unless they said no (<https://no-color.org>).
fn wants_colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
