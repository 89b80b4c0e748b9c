//! `runward serve`: MCP over HTTP.

use std::io::{self, Write};
use std::net::SocketAddr;

use runward_process::descriptors;
use runward_server::{Mcp, http};

use crate::args::{Common, Serve};
use crate::config::Config;
use crate::exit::Exit;
use crate::{secrets, wiring};

/// Serves until told to stop.
pub(crate) fn run(args: &Serve, common: &Common) -> anyhow::Result<Exit> {
    let flags = [common.flags(), args.flags()].concat();
    let config = Config::load(common.config.as_deref(), &flags)?;
    crate::log::start(&config.log)?;
    let tokens = wiring::tokens(&config, secrets::token()?.as_deref())?;
    let mut settings = wiring::server_settings(&config, tokens);
    let descriptors = descriptors::raise();
    let connections = &mut settings.http.limits.connections;
    *connections = descriptors.connections(config.limits.sessions).min(*connections);
    wiring::collect_caches(&config);
    wiring::block_on(async {
        let engine = wiring::engine_beside(&config, descriptors.inherited);
        engine.close_lost_calls();
        let _watch = wiring::watch_policy(&config, &engine)?;
        let mcp = Mcp::new(engine.clone(), &settings)?;
        let on_listening = |address| {
            announce(address);
            wiring::warn_if_nothing_may_run(&config);
        };
        http::serve(mcp, engine, &settings.http, on_listening).await?;
        Ok(Exit::Success)
    })
}

/// One line for scripts and one for people. Nobody has to read them, so a closed output is no error.
fn announce(address: SocketAddr) {
    let mut stdout = io::stdout();
    let _ = writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush());
    let _ = writeln!(io::stderr(), "runward: listening on http://{address}/mcp");
}
