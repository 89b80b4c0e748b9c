//! What every request passes before anything looks at it: `Host`, `Origin`, size.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::allowed::{Allowed, HostPort};
use super::answer::{refuse, shape};

/// The rules of the entrance.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) allowed: Allowed,
    pub(super) max_body: usize,
}

impl Guard {
    fn check(&self, request: &Request) -> Result<(), Box<Response>> {
        let host = self.host(request)?;
        self.origin(request.headers(), &host)?;
        self.size(request.headers())
    }

    fn host(&self, request: &Request) -> Result<HostPort, Box<Response>> {
        let named = named_host(request);
        if let Some(host) = named.as_deref().and_then(HostPort::parse)
            && self.allowed.host(&host)
        {
            return Ok(host);
        }
        let named = named.unwrap_or_default();
        forbidden(
            "host_not_allowed",
            &format!(
                "host {named:?} is not served here; add it to http.allowed_hosts (RUNWARD_HTTP_ALLOWED_HOSTS) to change this"
            ),
        )
    }

    fn origin(&self, headers: &HeaderMap, host: &HostPort) -> Result<(), Box<Response>> {
        for origin in headers.get_all(ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.allowed.origin(origin, host)) {
                let message = format!(
                    "origin {origin:?} may not call this server; add it to http.allowed_origins (RUNWARD_HTTP_ALLOWED_ORIGINS) to change this"
                );
                return forbidden("origin_not_allowed", &message);
            }
        }
        Ok(())
    }

    /// Bodies that do not announce their size are counted by whoever reads them.
    fn size(&self, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let announced =
            headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        match announced {
            Some(length) if length > self.max_body as u64 => {
                let message = format!(
                    "the body has {length} bytes and at most {} are read; set http.max_body (RUNWARD_HTTP_MAX_BODY) to change this",
                    self.max_body
                );
                Err(Box::new(refuse(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large", &message)))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses what was not meant for us, or is too large, and gives every error one shape.
pub(super) async fn guard(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.check(&request) {
        Ok(()) => shape(next.run(request).await).await,
        Err(refusal) => *refusal,
    }
}

/// The one host that a request names. Two that could be read differently along the way are none.
fn named_host(request: &Request) -> Option<String> {
    let mut named = request.headers().get_all(HOST).iter();
    let header = match (named.next(), named.next()) {
        (Some(host), None) => Some(host.to_str().ok()?.to_owned()),
        (None, _) => None,
        _ => return None,
    };
    match (header, request.uri().authority()) {
        (Some(header), Some(authority)) => {
            (HostPort::parse(&header)? == HostPort::of(authority)?).then_some(header)
        }
        (header, authority) => header.or_else(|| Some(authority?.to_string())),
    }
}

fn forbidden<T>(code: &str, message: &str) -> Result<T, Box<Response>> {
    Err(Box::new(refuse(StatusCode::FORBIDDEN, code, message)))
}
