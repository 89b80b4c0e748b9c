//! On whose behalf a request is made: whoever shows a token, or anybody where none is demanded.

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::Response;
use runward_model::Principal;

use super::answer::unauthorized;
use super::listener::Via;
use super::peer::Unknown;
use crate::{Roles, Tokens};

/// Demands a token, where there is any, and says on whose behalf the request is made and what they may do.
pub(super) async fn authenticate(State(tokens): State<Tokens>, mut request: Request, next: Next) -> Response {
    let (principal, roles) = match holder(&tokens, request.headers()) {
        Shown::Known(principal, roles) => (principal, roles),
        Shown::Nothing | Shown::Wrong if !tokens.are_demanded() => {
            match request.extensions().get::<Unknown>() {
                Some(unknown) => return unknown.answer(),
                None => (Principal::local(), Roles::all()),
            }
        }
        Shown::Nothing => {
            return unauthorized("Bearer", &format!("a token is demanded: {HOW}"));
        }
        Shown::Wrong => {
            return unauthorized(
                "Bearer error=\"invalid_token\"",
                &format!("this token is not known here: {HOW}"),
            );
        }
    };
    if let Some(ConnectInfo(via)) = request.extensions().get::<ConnectInfo<Via>>() {
        via.connection.know();
    }
    request.extensions_mut().insert(principal);
    request.extensions_mut().insert(roles);
    next.run(request).await
}

/// What a caller can do without a token that is known.
const HOW: &str = "send the value of RUNWARD_TOKEN, what `runward token` prints the path of, or a token of your own from \
    `runward token NAME`, as `Authorization: Bearer …`";

/// What a request shows.
enum Shown {
    Known(Principal, Roles),
    Wrong,
    Nothing,
}

fn holder(tokens: &Tokens, headers: &HeaderMap) -> Shown {
    let mut presented = headers.get_all(AUTHORIZATION).iter();
    match (presented.next(), presented.next()) {
        (None, _) => Shown::Nothing,
        (Some(value), None) => {
            let holder = bearer(value.as_bytes()).and_then(|token| tokens.holder(token));
            holder.map_or(Shown::Wrong, |(principal, roles)| Shown::Known(principal, roles))
        }
        _ => Shown::Wrong,
    }
}

/// The credentials of `Bearer …`; the scheme is case-insensitive.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, credentials) = value.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(credentials.trim_ascii())
}
