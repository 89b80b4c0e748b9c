//! The leash: a request whose caller has gone away says so.
//!
//! Legacy MCP sessions let a stream be resumed, so the protocol library keeps working when a response is dropped.
//! A command must not: whoever asked for it has to be there.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use tokio_util::sync::DropGuard;

use crate::Disconnected;

/// Held for as long as an answer is owed; dropping it unreleased means that the caller went away.
#[derive(Debug)]
pub(super) struct Leash(Option<DropGuard>);

impl Leash {
    pub(super) fn new(disconnected: &Disconnected) -> Self {
        Leash(Some(disconnected.0.clone().drop_guard()))
    }

    fn release(&mut self) {
        if let Some(guard) = self.0.take() {
            guard.disarm();
        }
    }
}

/// A response body that holds what must live until it has been sent, or dropped.
pub(super) struct Leashed<T> {
    body: Body,
    leash: Leash,
    _held: T,
}

impl<T> Leashed<T> {
    pub(super) fn new(body: Body, leash: Leash, held: T) -> Self {
        let mut leashed = Leashed { body, leash, _held: held };
        leashed.release_at_end();
        leashed
    }

    /// The server need not poll a body that says it has ended.
    fn release_at_end(&mut self) {
        if self.body.is_end_stream() {
            self.leash.release();
        }
    }
}

impl<T: Unpin> HttpBody for Leashed<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        match &polled {
            Poll::Ready(None) => self.leash.release(),
            Poll::Ready(Some(_)) => self.release_at_end(),
            Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn leashed(body: Body) -> (CancellationToken, Leashed<()>) {
        let disconnected = Disconnected(CancellationToken::new());
        let leash = Leash::new(&disconnected);
        (disconnected.0, Leashed::new(body, leash, ()))
    }

    #[tokio::test]
    async fn a_body_that_was_read_to_its_end_does_not_cancel() {
        let (gone, body) = leashed(Body::from("all of it"));
        axum::body::to_bytes(Body::new(body), usize::MAX).await.expect("a body");
        assert!(!gone.is_cancelled());
    }

    #[test]
    fn an_empty_body_does_not_cancel_even_when_nobody_polls_it() {
        let (gone, body) = leashed(Body::empty());
        drop(body);
        assert!(!gone.is_cancelled());
    }

    #[test]
    fn a_body_that_is_dropped_before_its_end_cancels() {
        let (gone, body) = leashed(Body::from("never read"));
        drop(body);
        assert!(gone.is_cancelled());
    }

    #[test]
    fn a_request_that_is_dropped_before_it_has_a_response_cancels() {
        let disconnected = Disconnected(CancellationToken::new());
        drop(Leash::new(&disconnected));
        assert!(disconnected.0.is_cancelled());
    }
}
