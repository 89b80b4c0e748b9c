//! The server that the official conformance suite is held against: its own tools, those that the suite calls by name, and
//! everything between the wire and the engine as it is shipped.

mod content;
mod fixture;
mod fixtures;
mod questions;

use std::net::SocketAddr;
use std::time::Duration;

use runward_server::{Engine, HttpSettings, Mcp, RawSettings, Settings, Tokens, http};
use runward_testkit::engine_settings;

use fixtures::WithFixtures;

/// No scenario takes so long.
const LONG: Duration = Duration::from_mins(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let engine = Engine::new(engine_settings());
        let settings = settings();
        let mcp = WithFixtures::new(Mcp::new(engine.clone(), &settings)?);
        let on_listening = |address| println!("listening on http://{address}");
        Ok(http::serve(mcp, engine, &settings.http, on_listening).await?)
    })
}

fn settings() -> Settings {
    Settings {
        tools: Vec::new(),
        default_timeout: LONG,
        max_timeout: LONG,
        shell_default_timeout: LONG,
        shell_max_timeout: LONG,
        reply_size: 1 << 16,
        heartbeat: Duration::from_secs(1),
        patience: LONG,
        longest_poll: LONG,
        reply_tokens: 10_000,
        confinement: String::new(),
        http: http_settings(),
    }
}

fn http_settings() -> HttpSettings {
    HttpSettings {
        bind: SocketAddr::from(([127, 0, 0, 1], 0)),
        tokens: Tokens::default(),
        raw_is_open: true,
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        max_body: 1 << 22,
        limits: http::Limits { head: LONG, body: LONG, idle: LONG, connections: 1000 },
        raw: RawSettings { timeout: None },
    }
}
