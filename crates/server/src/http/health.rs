//! `GET /healthz`.

use std::fmt;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

/// Who knows whether something is wrong.
#[derive(Clone, Default)]
pub(super) struct Health(Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>);

impl Health {
    /// Asks this for what is wrong with the policy.
    pub(super) fn new(policy_fault: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Health(Some(Arc::new(policy_fault)))
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Health")
    }
}

/// Answers as long as the server lives; a broken policy is mended by its author and not by another start.
pub(super) async fn health(State(health): State<Health>) -> Json<Value> {
    let version = env!("CARGO_PKG_VERSION");
    match health.0.and_then(|policy_fault| policy_fault()) {
        None => Json(json!({ "status": "ok", "version": version })),
        Some(fault) => Json(json!({ "status": "degraded", "version": version, "policy": fault })),
    }
}
