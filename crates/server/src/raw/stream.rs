//! The events of a session as the body of an answer.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use runward_engine::{Event, EventReader, Session};
use runward_model::stream::RawEvent;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{Raw, frame};
use crate::http::refuse;
use crate::tools::sandbox_note;

/// One reader of a session, for as long as its answer is being sent. Letting go of it is the client going away.
struct Reading {
    session: Session,
    reader: EventReader,
    stage: Stage,
    /// While this is held, a server that stops waits for the answer.
    _owed: TaskTrackerToken,
}

enum Stage {
    Start,
    Events,
    Over,
}

/// The answer: one line an event, each sent as it comes, from the event of this number on; number 0 is the start.
pub(super) fn answer(raw: &Raw, session: Session, from: u64) -> Response {
    let Some(events) = session.events() else {
        let what = "its events are no longer kept; see read_output for what is left";
        return refuse(StatusCode::GONE, "gone", what);
    };
    let stage = if from == 0 { Stage::Start } else { Stage::Events };
    let (reader, owed) = (events.reader(from), raw.0.open.answers.token());
    let frames = unfold(Reading { session, reader, stage, _owed: owed }, |mut reading| async {
        let frame = reading.next().await?;
        Some((Ok::<_, Infallible>(frame), reading))
    });
    let headers = [(CONTENT_TYPE, "application/x-ndjson"), (CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(frames)).into_response()
}

impl Reading {
    async fn next(&mut self) -> Option<Bytes> {
        match self.stage {
            Stage::Over => return None,
            Stage::Start => {
                self.stage = Stage::Events;
                let (session, pid) = (self.session.name().0.clone().into(), self.session.pid());
                return Some(frame::event(0, RawEvent::Start { session, pid }));
            }
            Stage::Events => {}
        }
        let last = match self.reader.next().await {
            Ok(Event::Printed(line)) => return Some(frame::shared(line)),
            Ok(Event::Dropped { seq, stream, bytes }) => {
                return Some(frame::event(seq, RawEvent::Gap { stream, bytes }));
            }
            // Whoever asks for what comes after the end hears nothing more.
            Ok(Event::End { seq }) if seq < self.reader.next_number() => return None,
            Ok(Event::End { seq }) => {
                let outcome = self.session.over().await;
                let note = sandbox_note(self.session.receipt(), &outcome);
                frame::event(seq, RawEvent::end(&outcome, note))
            }
            Ok(Event::Gone) => self.lost("these events are no longer kept"),
            Err(error) => self.lost(&format!("what was printed cannot be read back: {error}")),
        };
        self.stage = Stage::Over;
        Some(last)
    }

    fn lost(&self, why: &str) -> Bytes {
        frame::event(self.reader.next_number(), RawEvent::Error { message: why.into() })
    }
}
