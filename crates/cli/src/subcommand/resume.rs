//! `runward resume`: lets runs go on after one that stopped everything.

use std::fs;
use std::io::{self, Write as _};

use anyhow::Context as _;

use crate::args::Common;
use crate::config::Config;
use crate::exit::Exit;
use crate::wiring;

/// Removes the file that stops everything, and says what was in it.
pub(crate) fn run(common: &Common) -> anyhow::Result<Exit> {
    let config = Config::load(common.config.as_deref(), &common.flags())?;
    crate::log::start(&config.log)?;
    let file = wiring::abort_file(&config);
    let reason = fs::read(&file).unwrap_or_default();
    let said = match fs::remove_file(&file) {
        Ok(()) => format!("resumed after: {}", String::from_utf8_lossy(&reason).trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "nothing was stopped".into(),
        Err(error) => return Err(error).with_context(|| format!("cannot remove {}", file.display())),
    };
    writeln!(io::stdout(), "{said}")?;
    Ok(Exit::Success)
}
