//! The MCP server: what it says of itself, which tools it offers, and how a call reaches them.

mod asker;
mod offer;
mod protocol;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use runward_model::{Caller, Client, Door, Principal};
use tokio_util::sync::CancellationToken;

pub use offer::UnknownTool;

use crate::Roles;
use crate::approvals::{Identity, Rounds};
use crate::call::{self, Asked, Progress, Resumed, Watcher};
use crate::settings::Settings;
use crate::tools::{Limits, Reply};
use offer::{Offer, Offered};
use runward_engine::Engine;

/// The MCP server. Clones share everything.
#[derive(Clone, Debug)]
pub struct Mcp {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    engine: Engine,
    offer: Offer,
    limits: Limits,
    heartbeat: Duration,
    rounds: Rounds,
    /// How commands are confined, in words.
    confinement: String,
}

impl Mcp {
    /// Offers the tools that the settings name.
    pub fn new(engine: Engine, settings: &Settings) -> Result<Self, UnknownTool> {
        let limits = Limits::of(settings);
        let offer = Offer::new(&settings.tools, &limits)?;
        Ok(Mcp {
            shared: Arc::new(Shared {
                engine,
                offer,
                limits,
                heartbeat: settings.heartbeat,
                rounds: Rounds::default(),
                confinement: settings.confinement.clone(),
            }),
        })
    }

    async fn call(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Reply, ErrorData> {
        let Shared { engine, offer, limits, heartbeat, rounds, .. } = self.shared.as_ref();
        let Offered { tool, shape, .. } = offer.find(&call.name)?;
        let roles = from_http::<Roles>(&context).unwrap_or_else(Roles::all);
        if !roles.has(tool.act.role()) {
            return Ok(Reply::failed(roles.lack(tool.act.role())));
        }
        let caller = caller(tool.name, &context);
        let arguments = call.arguments.unwrap_or_default();
        let identity =
            Identity { principal: caller.principal.clone(), tool: tool.name, arguments: arguments.clone() };
        let resumed = call
            .request_state
            .map(|state| Resumed { state, answers: call.input_responses.unwrap_or_default() });
        let asker = asker::asker(&context, &caller, &roles, rounds.clone(), identity, resumed);
        let watcher = watcher(context, *heartbeat);
        let question = Asked { tool, shape, limits, arguments, caller, asker };
        Ok(call::answer(engine, question, watcher).await)
    }
}

/// Cancelled when the client has gone. A door that can notice puts it into the extensions of a request's HTTP parts.
#[derive(Clone, Debug)]
pub struct Disconnected(pub CancellationToken);

/// The session of the protocol that a request belongs to, where there is one. A door that keeps sessions puts it into the
/// extensions of a request's HTTP parts.
#[derive(Clone, Debug)]
pub(crate) struct InSession(pub(crate) Principal);

impl InSession {
    /// Whose everything is that a session's calls start.
    pub(crate) fn new(principal: Principal, session: &str) -> Self {
        InSession(principal.client(&format!("session {session}")))
    }
}

fn caller(tool: &'static str, context: &RequestContext<RoleServer>) -> Caller {
    let client = context.client_info().map(|client| Client { name: client.name, version: client.version });
    let principal = principal(context, client.as_ref());
    Caller { client, ..Caller::new(Door::named(tool), principal) }
}

/// On stdio there is one client. Over HTTP a session of the protocol is one; without, what a client says of itself tells
/// apart those that showed the same token, and nothing those that showed none.
fn principal(context: &RequestContext<RoleServer>, client: Option<&Client>) -> Principal {
    let Some(principal) = from_http::<Principal>(context) else { return Principal::local() };
    match (from_http(context), client) {
        (Some(InSession(principal)), _) => principal,
        (None, Some(Client { name, version })) if principal != Principal::local() => {
            principal.client(&format!("client {name} {version}"))
        }
        (None, _) => principal.any_client(),
    }
}

fn watcher(context: RequestContext<RoleServer>, every: Duration) -> Watcher {
    let disconnected = from_http(&context).map(|Disconnected(token)| token);
    let token = context.meta.get_progress_token();
    let progress = token.map(|token| Progress { peer: context.peer, token, every });
    Watcher { cancelled: context.ct, disconnected, progress }
}

/// What the HTTP door attached to a request; nothing on stdio.
fn from_http<T: Clone + Send + Sync + 'static>(context: &RequestContext<RoleServer>) -> Option<T> {
    context.extensions.get::<http::request::Parts>()?.extensions.get::<T>().cloned()
}
