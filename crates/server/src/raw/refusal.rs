//! Why nothing ran, as an HTTP status and a word for programs.

use axum::http::StatusCode;
use axum::response::Response;
use runward_model::Refusal;

use crate::http::refuse;

/// The answer to a request of which nothing ran.
pub(super) fn answer(refusal: &Refusal) -> Response {
    let (status, code) = meaning(refusal);
    refuse(status, code, &refusal.to_string())
}

/// The only table of what a refusal means to a client of this door.
fn meaning(refusal: &Refusal) -> (StatusCode, &'static str) {
    match refusal {
        Refusal::Denied(_)
        | Refusal::NotApproved { .. }
        | Refusal::EscalationRefused(_)
        | Refusal::Environment(_)
        | Refusal::Unpublishable { .. }
        | Refusal::CwdOutsideRoots { .. } => (StatusCode::FORBIDDEN, "denied"),
        Refusal::NotFound { .. } => (StatusCode::NOT_FOUND, "program_not_found"),
        Refusal::NotExecutable(_) => (StatusCode::BAD_REQUEST, "not_executable"),
        Refusal::CwdMissing(_) | Refusal::CwdNotDirectory(_) | Refusal::CwdUnusable { .. } => {
            (StatusCode::BAD_REQUEST, "bad_cwd")
        }
        Refusal::Exhausted { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
        Refusal::ShuttingDown => (StatusCode::SERVICE_UNAVAILABLE, "shutting_down"),
        Refusal::Aborted { .. } => (StatusCode::SERVICE_UNAVAILABLE, "aborted"),
        Refusal::AbortUnknown { .. } => (StatusCode::SERVICE_UNAVAILABLE, "abort_unknown"),
        Refusal::InvalidRoot { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "misconfigured"),
        Refusal::Unconfinable(_) => (StatusCode::INTERNAL_SERVER_ERROR, "no_sandbox"),
        Refusal::Unrecorded(_) => (StatusCode::INTERNAL_SERVER_ERROR, "unrecorded"),
        Refusal::StartFailed { .. } => (StatusCode::INTERNAL_SERVER_ERROR, "start_failed"),
        Refusal::Empty
        | Refusal::Nul { .. }
        | Refusal::TooLarge(_)
        | Refusal::BarePatch
        | Refusal::Skipped { .. }
        | Refusal::Earlier { .. }
        | Refusal::KeyTaken(_)
        | Refusal::KeyGuessable { .. }
        | Refusal::WorkspaceName { .. }
        | Refusal::TwoInputs => (StatusCode::BAD_REQUEST, "bad_request"),
    }
}

/// The answer to a request that makes no sense.
pub(super) fn malformed(sentence: &str) -> Response {
    refuse(StatusCode::BAD_REQUEST, "bad_request", sentence)
}

#[cfg(test)]
mod tests {
    use runward_model::Verdict;

    use super::*;

    #[test]
    fn a_refusal_has_the_status_of_its_kind() {
        let near = Vec::new();
        let cases = [
            (Refusal::Denied(Verdict::default()), 403),
            (Refusal::Environment("no".into()), 403),
            (Refusal::NotFound { program: "x".into(), near }, 404),
            (Refusal::CwdMissing("/x".into()), 400),
            (Refusal::Empty, 400),
            (Refusal::Exhausted { what: "x", reason: "y".into() }, 429),
            (Refusal::ShuttingDown, 503),
            (Refusal::Unrecorded("x".into()), 500),
        ];
        for (refusal, status) in cases {
            assert_eq!(meaning(&refusal).0.as_u16(), status, "{refusal:?}");
        }
    }
}
