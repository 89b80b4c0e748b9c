//! A proxy that lets nothing through, for acts that try to get something through it.

use std::net::TcpListener;
use std::sync::Arc;

use runward_proxy::{Decided, Gate, Hosts, Later, System, Target};
use tokio::task::JoinSet;

/// Serves as the engine would, with lists that name no host, until it is dropped.
pub(super) fn serve(listener: TcpListener) -> anyhow::Result<JoinSet<()>> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let hosts = Arc::new(Hosts::default());
    let mut serving = JoinSet::new();
    serving.spawn(runward_proxy::serve(listener, hosts, Arc::new(Nobody), Arc::new(System)));
    Ok(serving)
}

/// Nobody is told, and nobody is asked.
#[derive(Debug)]
struct Nobody;

impl Gate for Nobody {
    fn decided(&self, _: Decided) -> Later<Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    fn ask(&self, _: &Target) -> Later<Result<String, String>> {
        Box::pin(async { Err("nobody is asked".to_owned()) })
    }

    fn crowded(&self, _: usize) {}
}
