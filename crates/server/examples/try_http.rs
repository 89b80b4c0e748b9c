//! Temporary.
use runward_server::{Engine, HttpSettings, Mcp, Settings, http};
use std::time::Duration;
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let http = HttpSettings {
        bind: "127.0.0.1:0".parse().unwrap(),
        token: None,
        allowed_hosts: vec![],
        allowed_origins: vec![],
        max_body: 4 << 20,
    };
    let settings = Settings {
        tools: vec![],
        default_timeout: Duration::from_secs(30),
        max_timeout: Duration::from_secs(600),
        heartbeat: Duration::from_secs(10),
        http,
    };
    let engine = Engine::default();
    let mcp = Mcp::new(engine.clone(), &settings).unwrap();
    http::serve(mcp, engine, &settings.http, |a| println!("listening on http://{a}")).await.unwrap();
}
