//! A request on its way: its connection is busy until it is answered, and its body may not stand still.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use super::answer::refuse;
use super::connections::Answering;
use super::listener::Via;

/// Keeps the connection busy until the whole answer was sent, and ends a body that stands still.
pub(super) async fn pace(request: Request, next: Next) -> Response {
    let Some(ConnectInfo(via)) = request.extensions().get::<ConnectInfo<Via>>().cloned() else {
        return next.run(request).await;
    };
    let answering = via.connection.begin();
    let stood_still = Arc::new(AtomicBool::new(false));
    let request = request.map(|body| {
        let (limit, timer) = (via.body, None);
        Body::new(Moving { body, limit, timer, stood_still: stood_still.clone() })
    });
    let response = next.run(request).await;
    // Whoever read the body has its own word for a body that broke off.
    let response = if stood_still.load(Ordering::Relaxed) { too_slow(via.body) } else { response };
    response.map(|body| Body::new(Answered { body, _answering: answering }))
}

fn too_slow(limit: Duration) -> Response {
    let message = format!("no more of the body came for {limit:?} (http.body_timeout)");
    let mut response = refuse(StatusCode::REQUEST_TIMEOUT, "request_timeout", &message);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// The body of a request, which breaks off once it has stood still for too long.
struct Moving {
    body: Body,
    limit: Duration,
    /// Runs while the client is waited for.
    timer: Option<Pin<Box<Sleep>>>,
    stood_still: Arc<AtomicBool>,
}

impl HttpBody for Moving {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_ready() {
            self.timer = None;
            return polled;
        }
        let until = Instant::now() + self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        if timer.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.stood_still.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(axum::Error::new("the body stood still"))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer, with which the request is over.
struct Answered {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
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
    use futures_util::stream;

    use super::*;

    fn moving(body: Body) -> Moving {
        let (limit, timer) = (Duration::from_secs(30), None);
        Moving { body, limit, timer, stood_still: Arc::default() }
    }

    /// A piece every so often.
    fn dripping(pause: Duration) -> Body {
        Body::from_stream(stream::unfold(0, move |count| async move {
            tokio::time::sleep(pause).await;
            (count < 5).then_some((Ok::<_, std::io::Error>("x"), count + 1))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_goes_on_may_take_its_time() {
        let read = axum::body::to_bytes(Body::new(moving(dripping(Duration::from_secs(29)))), 100).await;
        assert_eq!(read.expect("a body"), "xxxxx");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stands_still_breaks_off() {
        let moving = moving(dripping(Duration::from_secs(31)));
        let stood_still = moving.stood_still.clone();
        assert!(axum::body::to_bytes(Body::new(moving), 100).await.is_err());
        assert!(stood_still.load(Ordering::Relaxed));
    }
}
