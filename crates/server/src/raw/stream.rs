//! The events of a session as the body of an answer.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use runward_engine::{Event, EventReader, Session, Tap};
use runward_model::{OutputId, StopReason};
use tokio::runtime::Handle;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::attendance::{Attendance, Attended};
use super::body::Leash;
use super::{Raw, frame};
use crate::http::Open;
use crate::tools::sandbox_note;

/// One reader of a session, for as long as its answer is being sent. Letting go of it is the client going away.
pub(super) struct Reading {
    session: Session,
    reader: EventReader,
    stage: Stage,
    _presence: Presence,
    /// While this is held, a server that stops waits for the answer.
    _owed: TaskTrackerToken,
}

enum Stage {
    Start,
    Events,
    Over,
}

impl Reading {
    /// Reads from the event of this number on; number 0 is the start.
    pub(super) fn new(raw: &Raw, session: Session, tap: &Arc<Tap>, from: u64, presence: Presence) -> Self {
        let stage = if from == 0 { Stage::Start } else { Stage::Events };
        let owed = raw.0.open.answers.token();
        Reading { session, reader: tap.reader(from), stage, _presence: presence, _owed: owed }
    }

    /// The answer: one line an event, each sent as it comes.
    pub(super) fn into_response(self) -> Response {
        let frames = unfold(self, |mut reading| async {
            let frame = reading.next().await?;
            Some((Ok::<_, Infallible>(frame), reading))
        });
        let headers = [(CONTENT_TYPE, "application/x-ndjson"), (CACHE_CONTROL, "no-store")];
        (headers, Body::from_stream(frames)).into_response()
    }

    async fn next(&mut self) -> Option<Bytes> {
        match self.stage {
            Stage::Over => return None,
            Stage::Start => {
                self.stage = Stage::Events;
                return Some(frame::start(name(&self.session).0.as_str(), self.session.pid()));
            }
            Stage::Events => {}
        }
        let last = match self.reader.next().await {
            Ok(Event::Printed(line)) => return Some(frame::shared(line)),
            Ok(Event::Dropped { seq, stream, bytes }) => return Some(frame::gap(seq, stream, bytes)),
            // Whoever asks for what comes after the end hears nothing more.
            Ok(Event::End { seq }) if seq < self.reader.next_number() => return None,
            Ok(Event::End { seq }) => {
                let outcome = self.session.over().await;
                let note = sandbox_note(self.session.receipt(), &outcome);
                frame::exit(seq, &outcome, note)
            }
            Ok(Event::Gone) => frame::error(self.reader.next_number(), "these events are no longer kept"),
            Err(error) => {
                let message = format!("what was printed cannot be read back: {error}");
                frame::error(self.reader.next_number(), &message)
            }
        };
        self.stage = Stage::Over;
        Some(last)
    }
}

/// The name by which a client comes back to a session.
pub(super) fn name(session: &Session) -> OutputId {
    session.receipt().output.clone().unwrap_or_else(|| OutputId(String::new()))
}

/// That somebody reads a session. What becomes of the session without it depends on what its client asked for.
pub(super) struct Presence {
    id: OutputId,
    leash: Leash,
    /// The session without its leash.
    session: Session,
    tap: Arc<Tap>,
    attended: Arc<Attended>,
    attendance: Arc<Attendance>,
    open: Open,
    /// Which reader this is.
    reader: u64,
}

impl Drop for Presence {
    fn drop(&mut self) {
        match self.leash {
            Leash::Held => self.give_up(),
            Leash::Resumable(_) => self.wait_for_another(),
            Leash::Detached => {}
        }
    }
}

impl Presence {
    /// Somebody begins to read.
    pub(super) fn begin(
        raw: &Raw,
        session: &Session,
        tap: &Arc<Tap>,
        attended: Arc<Attended>,
        leash: Leash,
    ) -> Self {
        Presence {
            reader: attended.read(),
            id: name(session),
            leash,
            session: session.watch(),
            tap: tap.clone(),
            attended,
            attendance: raw.0.attendance.clone(),
            open: raw.0.open.clone(),
        }
    }

    fn give_up(&self) {
        self.attendance.end(&self.id);
        self.tap.abandon();
        self.session.stop(StopReason::Disconnected);
    }

    /// Gives up once nobody has come for as long as the client asked for.
    fn wait_for_another(&mut self) {
        let Leash::Resumable(patience) = self.leash else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let waiting = Presence {
            id: self.id.clone(),
            leash: Leash::Detached,
            session: self.session.watch(),
            tap: self.tap.clone(),
            attended: self.attended.clone(),
            attendance: self.attendance.clone(),
            open: self.open.clone(),
            reader: self.reader,
        };
        runtime.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(patience) => {}
                () = waiting.open.streams.cancelled() => {}
            }
            if waiting.attended.is_last(waiting.reader) {
                waiting.give_up();
            }
        });
    }
}
