//! How the user of a client can be asked, by what the client says of itself.

use rmcp::RoleServer;
use rmcp::model::ProtocolVersion;
use rmcp::service::RequestContext;
use runward_model::{Caller, Principal};

use super::{Disconnected, from_http};
use crate::approvals::{Identity, Rounds};
use crate::call::{Asker, Resumed, Way};
use crate::{Role, Roles};

/// How the user of this call's client can be asked.
pub(super) fn asker(
    context: &RequestContext<RoleServer>,
    caller: &Caller,
    roles: &Roles,
    rounds: Rounds,
    identity: Identity,
    resumed: Option<Resumed>,
) -> Asker {
    let is_modern =
        context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let way = match (shows_forms(context) && roles.has(Role::Answer), is_modern) {
        (false, _) => Way::Nobody,
        (true, true) => Way::Result(resumed),
        (true, false) => Way::Request(context.peer.clone(), context.id.clone()),
    };
    let client = caller.client.as_ref().map_or_else(
        || "an unnamed client".to_owned(),
        |client| format!("{} {}", client.name, client.version),
    );
    let disconnected = from_http(context).map(|Disconnected(token)| token);
    Asker {
        way,
        by: format!("the user of {client}"),
        conversation: client.into(),
        is_open_to_all: from_http::<Principal>(context)
            .is_some_and(|principal| principal == Principal::local()),
        given_up: std::iter::once(context.ct.clone()).chain(disconnected).collect(),
        rounds,
        identity,
    }
}

/// A client that says neither which forms it shows shows plain ones.
fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
    elicitation.is_some_and(|forms| forms.form.is_some() || forms.url.is_none())
}
