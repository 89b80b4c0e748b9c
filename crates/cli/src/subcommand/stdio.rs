//! `runward stdio`: MCP on standard input and output.

use std::io::{self, IsTerminal};

use runward_server::{Mcp, Tokens, stdio};

use crate::args::{Common, Stdio};
use crate::config::Config;
use crate::exit::Exit;
use crate::{secrets, wiring};

/// Serves until the end of input, or until told to stop.
pub(crate) fn run(args: &Stdio, common: &Common) -> anyhow::Result<Exit> {
    let flags = [common.flags(), args.tools.flags()].concat();
    let config = Config::load(common.config.as_deref(), &flags)?;
    crate::log::start(&config.log)?;
    if io::stdin().is_terminal() {
        eprintln!("runward: waiting for MCP messages; a client is meant to start this (see runward --help)");
    }
    // Nobody shows a token here, but commands must not find it either.
    secrets::token()?;
    let settings = wiring::server_settings(&config, Tokens::default());
    wiring::warn_if_nothing_may_run(&config);
    wiring::collect_caches(&config);
    wiring::block_on(async {
        let engine = wiring::engine(&config);
        engine.close_lost_calls();
        let _watch = wiring::watch_policy(&config, &engine)?;
        let mcp = Mcp::new(engine.clone(), &settings)?;
        stdio::serve(mcp, engine).await?;
        Ok(Exit::Success)
    })
}
