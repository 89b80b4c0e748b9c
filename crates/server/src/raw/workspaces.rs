//! `GET /raw/workspaces`: the named workspaces of a token.

use axum::Extension;
use axum::Json;
use axum::extract::State;
use runward_model::Principal;
use serde_json::{Value, json};

use super::Raw;

/// Each by its name; without a token there are none to be told of, since to know a name is to be let in.
pub(super) async fn list(State(raw): State<Raw>, Extension(principal): Extension<Principal>) -> Json<Value> {
    let all = raw.0.engine.workspaces(&principal.any_client());
    let all: Vec<Value> = all
        .iter()
        .map(|one| {
            let directories: Vec<_> = one.directories.iter().map(|path| path.to_string_lossy()).collect();
            json!({
                "name": one.name,
                "directories": directories,
                "running": one.running,
                "idle_seconds": one.idle.map(|idle| idle.as_secs()),
            })
        })
        .collect();
    Json(json!({ "workspaces": all }))
}
