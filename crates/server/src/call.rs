//! The one caller that serves every tool: check, decode, start, watch until the end, encode.

mod heartbeat;

pub(crate) use heartbeat::{Heartbeat, Progress};

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use rmcp::model::JsonObject;
use runward_model::{Caller, Request, StopReason, View};
use tokio_util::sync::CancellationToken;

use crate::params::{self, Param};
use crate::tools::{Reply, Tool};
use runward_engine::{Engine, Session};

/// Who waits for a call: how it takes its question back, how it goes away, and whether it hears of progress.
#[derive(Debug)]
pub(crate) struct Watcher {
    /// Cancelled when the caller cancels the call.
    pub(crate) cancelled: CancellationToken,
    /// Cancelled when the caller's connection is gone, where the door can tell.
    pub(crate) disconnected: Option<CancellationToken>,
    /// Where progress goes, if the caller asked for it.
    pub(crate) progress: Option<Progress>,
}

/// Answers a call, whatever happens: a panic is a failed reply too.
pub(crate) async fn answer(
    engine: &Engine,
    tool: &Tool,
    params: &[Param],
    arguments: JsonObject,
    caller: Caller,
    watcher: Watcher,
) -> Reply {
    let work = async {
        let request = match params::check(params, arguments) {
            Ok(given) => (tool.decode)(given, caller),
            Err(sentence) => return Reply::Failed(sentence),
        };
        run(engine, request, watcher, tool.encode).await
    };
    unless_panicking(tool.name, work).await
}

async fn run(engine: &Engine, request: Request, watcher: Watcher, encode: fn(&View) -> Reply) -> Reply {
    match engine.start(request).await {
        Ok(mut session) => encode(&watch(&mut session, watcher).await),
        Err(refusal) => Reply::Failed(refusal.to_string()),
    }
}

/// Waits for the end of a session, and brings it about when the caller no longer does.
async fn watch(session: &mut Session, watcher: Watcher) -> View {
    let mut heartbeat = Heartbeat::new(watcher.progress);
    let gone = gone(&watcher.cancelled, watcher.disconnected.as_ref()).fuse();
    tokio::pin!(gone);
    loop {
        tokio::select! {
            biased;
            view = session.ended() => {
                heartbeat.finish().await;
                return view;
            }
            reason = &mut gone => session.stop(reason),
            () = heartbeat.due() => heartbeat.beat(session.printed()),
        }
    }
}

async fn gone(cancelled: &CancellationToken, disconnected: Option<&CancellationToken>) -> StopReason {
    let disconnected = async {
        match disconnected {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = cancelled.cancelled() => StopReason::Cancelled,
        () = disconnected => StopReason::Disconnected,
    }
}

async fn unless_panicking(tool: &str, work: impl Future<Output = Reply>) -> Reply {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(reply) => reply,
        Err(panic) => {
            let message = panic_message(panic.as_ref());
            tracing::error!(tool, message, "a tool panicked");
            Reply::Failed(format!("{tool} failed inside the server ({message}); what it ran was stopped"))
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_failed_reply_that_says_so() {
        let reply = unless_panicking("some_tool", async { panic!("gone {}", "wrong") }).await;
        assert_eq!(
            reply,
            Reply::Failed("some_tool failed inside the server (gone wrong); what it ran was stopped".into())
        );
    }

    #[tokio::test]
    async fn a_caller_that_cancels_is_told_from_one_that_went_away() {
        let (cancelled, disconnected) = (CancellationToken::new(), CancellationToken::new());
        disconnected.cancel();
        assert_eq!(gone(&cancelled, Some(&disconnected)).await, StopReason::Disconnected);
        cancelled.cancel();
        assert_eq!(gone(&cancelled, None).await, StopReason::Cancelled);
    }
}
