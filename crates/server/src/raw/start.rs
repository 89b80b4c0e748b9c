//! `POST /raw`: runs a program and streams what it prints.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use runward_engine::{Keeping, Session};
use runward_model::Principal;

use super::body::{self, Asked, Leash};
use super::stream::{Presence, Reading, name};
use super::{Raw, caller, frame, refusal};

/// Answers with a stream once the program runs, and with a status before.
pub(super) async fn start(
    State(raw): State<Raw>,
    Extension(principal): Extension<Principal>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let asked = body::decode(&body, caller(principal, &headers), &raw.0.settings);
    let Asked { request, leash } = match asked {
        Ok(asked) => asked,
        Err(sentence) => return refusal::malformed(&sentence),
    };
    match raw.0.engine.start(request).await {
        Ok(session) => raw.stream(session, leash),
        Err(refused) => refusal::answer(&refused),
    }
}

impl Raw {
    fn stream(&self, mut session: Session, leash: Leash) -> Response {
        let (keeping, patience) = match leash {
            Leash::Held => (Keeping::UntilTaken, None),
            Leash::Resumable(patience) => (Keeping::UntilAcknowledged, Some(patience)),
            Leash::Detached => (Keeping::OnDisk, None),
        };
        let (id, tap) = (name(&session), session.log().tap(keeping, frame::output));
        let attended = self.0.attendance.begin(&id, patience);
        let presence = Presence::begin(self, &session, &tap, attended, leash);
        // Whoever reads holds the leash: dropping the answer is the client going away.
        session.loosen();
        if leash == Leash::Detached {
            self.attend_to_the_end(session.watch());
        }
        Reading::new(self, session, &tap, 0, presence).into_response()
    }

    /// A detached session is driven for as long as it runs.
    fn attend_to_the_end(&self, mut session: Session) {
        let attendance = self.0.attendance.clone();
        tokio::spawn(async move {
            session.over().await;
            attendance.end(&name(&session));
        });
    }
}
