//! The one caller that serves every tool: check, decode, start, watch until the end, encode.

mod asking;
mod heartbeat;
mod live;
mod outlet;
mod sessions;
mod teller;

pub(crate) use asking::{Asker, Resumed, Way};
pub(crate) use outlet::Progress;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::model::JsonObject;
use runward_model::{Caller, Principal, Refusal, Request, SessionId, StopReason, View};
use tokio_util::sync::CancellationToken;

use crate::arguments::{BadArgument, CheckedArguments, Shape};
use crate::tools::{
    Act, Found, Limits, Query, Refused, Reply, Run, Seen, Telling, Tool, goes_on, list, page,
};
use asking::Begun;
use runward_engine::{Engine, Gone, Session, Watch};
use teller::Teller;

/// Said beside the reply of a run that was there already.
const ATTACHED: &str = "attached: true (this request_key stands for an earlier call; nothing was run again)";

/// Said to a client of which nobody knows what it started.
const UNLISTED: &str = "nothing tells this client from others (it shows no token, and this revision of the protocol has no \
    sessions), so nothing is listed; use the session_id of each reply, or show a token (`runward token` makes one)";

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

/// One call of one tool.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// Which.
    pub(crate) tool: &'a Tool,
    /// What it takes.
    pub(crate) shape: &'a Shape,
    /// What the operator's settings leave open.
    pub(crate) limits: &'a Limits,
    /// What it was given.
    pub(crate) arguments: JsonObject,
    /// By whom.
    pub(crate) caller: Caller,
    /// How its user can be asked.
    pub(crate) asker: Asker,
}

/// Answers a call, whatever happens: a panic is a failed reply too.
pub(crate) async fn answer(engine: &Engine, asked: Asked<'_>, watcher: Watcher) -> Reply {
    let Asked { tool, shape, limits, arguments, caller, asker } = asked;
    let work = async {
        let acted = match shape.check(arguments) {
            Ok(checked) => act(engine, &tool.act, limits, checked, (caller, asker), watcher).await,
            Err(wrong) => Err(wrong),
        };
        acted.unwrap_or_else(|wrong| Reply::failed(wrong.to_string()))
    };
    // On the heap, since the library moves the future of a call about several times.
    unless_panicking(tool.name, Box::pin(work)).await
}

async fn act(
    engine: &Engine,
    act: &Act,
    limits: &Limits,
    given: CheckedArguments,
    (caller, asker): (Caller, Asker),
    watcher: Watcher,
) -> Result<Reply, BadArgument> {
    let principal = &caller.principal;
    Ok(match act {
        Act::Run(tool) => {
            let request = (tool.decoder.decode)(given, &caller, limits)?;
            run(engine, tool, limits, request, asker, watcher).await
        }
        Act::Read(decoder) => {
            let query = (decoder.decode)(given, &caller, limits)?;
            read(engine, principal, query).await.unwrap_or_else(|gone| Reply::failed(gone.to_string()))
        }
        Act::Keep(decoder) => {
            sessions::open(engine, (decoder.decode)(given, &caller, limits)?, asker, watcher).await
        }
        Act::Attend(decoder) => {
            sessions::attend(engine, principal, (decoder.decode)(given, &caller, limits)?, watcher).await
        }
        Act::Look(decoder) => sessions::look(engine, principal, &(decoder.decode)(given, &caller, limits)?),
        Act::List(_) if principal.is_any_client() => list(&[]).and(UNLISTED),
        Act::List(_) => list(&engine.kept_sessions(principal).await),
        Act::Stop(decoder) => stop(engine, principal, (decoder.decode)(given, &caller, limits)?).await,
    })
}

/// Ends a session, and says how it ended.
async fn stop(engine: &Engine, principal: &Principal, id: SessionId) -> Reply {
    let Some(mut session) = engine.session(principal, id) else {
        return Reply::failed(sessions::unknown(id));
    };
    session.stop(StopReason::Cancelled);
    let view = session.ended().await;
    let output = view.receipt.output.as_ref().map_or("", |id| id.0.as_str());
    Reply::ran(format!(
        "session {id} has ended, exit_code {}\noutput_id: {output}\n",
        view.outcome.exit_code()
    ))
}

/// Reads some lines of an output, once its command has ended or the caller will wait no longer.
async fn read(engine: &Engine, principal: &Principal, query: Query) -> Result<Reply, Gone> {
    let Query { output, stream, selection, wait } = query;
    let mut output = engine.output(principal, &output)?;
    if !wait.is_zero() {
        let _ = tokio::time::timeout(wait, output.ended()).await;
    }
    let lines = output.page(stream, selection).await?;
    Ok(page(&Found { output: &output, stream, page: &lines }))
}

async fn run(
    engine: &Engine,
    tool: &Run,
    limits: &Limits,
    request: Request,
    asker: Asker,
    watcher: Watcher,
) -> Reply {
    let command = request.work.to_string();
    match begin(engine, request, asker, Watch::Call, watcher.progress.as_ref()).await {
        Begun::Reply(reply) => reply,
        Begun::Started(mut session) => {
            let left = [Some(watcher.cancelled.clone()), watcher.disconnected.clone()];
            let Some(view) = watch(&mut session, tool.telling, watcher, limits.patience).await else {
                session.detach();
                return goes_on(&session, limits);
            };
            // What the command left behind is for a caller that is told of it.
            if !left.iter().flatten().any(CancellationToken::is_cancelled) {
                session.detach();
            }
            let beginning = |stream, most| session.log().beginning(stream, most);
            let near = |name: &str| engine.near(name);
            let reply = (tool.encode)(&Seen { view: &view, limits, near: &near, beginning: &beginning });
            if session.is_attached() { reply.and(ATTACHED) } else { reply }
        }
        Begun::Refused(refusal) => {
            let reply = (tool.refuse)(&Refused { command: &command, refusal: &refusal });
            if matches!(refusal, Refusal::Skipped { .. }) { reply.harmless() } else { reply }
        }
    }
}

/// Starts a command, and tells a caller that hears of progress while a person is asked.
async fn begin(
    engine: &Engine,
    request: Request,
    asker: Asker,
    watch: Watch,
    progress: Option<&Progress>,
) -> Begun {
    tokio::select! {
        biased;
        // On the heap, since starting a command holds much.
        begun = Box::pin(asker.start(engine, request, watch)) => begun,
        never = outlet::tell_of_waiting(progress) => match never {},
    }
}

/// Waits for the end of a session, and brings it about when the caller no longer does. A caller that hears of no
/// progress waits for `patience`, after which there is nothing to show yet.
async fn watch(
    session: &mut Session,
    telling: Telling,
    watcher: Watcher,
    patience: Duration,
) -> Option<View> {
    let is_patient = watcher.progress.is_some();
    let impatient = tokio::time::sleep(patience);
    tokio::pin!(impatient);
    let mut teller = Teller::new(telling, watcher.progress, session);
    let gone = gone(&watcher.cancelled, watcher.disconnected.as_ref()).fuse();
    tokio::pin!(gone);
    loop {
        tokio::select! {
            biased;
            view = session.command_ended() => {
                teller.finish().await;
                return Some(view);
            }
            reason = &mut gone => {
                // A run with a key goes on for a caller that comes back to it; only a word of its caller ends it.
                if session.is_held() || is_a_word(reason, watcher.disconnected.as_ref()).await {
                    session.stop(reason);
                }
            }
            () = &mut impatient, if !is_patient => return None,
            () = teller.due() => teller.tell(session),
        }
    }
}

/// Whether a caller said that it wants no more. A connection that breaks looks like that for a moment.
async fn is_a_word(reason: StopReason, disconnected: Option<&CancellationToken>) -> bool {
    const MOMENT: Duration = Duration::from_millis(50);
    match (reason, disconnected) {
        (StopReason::Cancelled, Some(token)) => {
            tokio::time::timeout(MOMENT, token.cancelled()).await.is_err()
        }
        (reason, _) => reason == StopReason::Cancelled,
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
            Reply::failed(format!("{tool} failed inside the server ({message}); what it ran was stopped"))
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
            Reply::failed("some_tool failed inside the server (gone wrong); what it ran was stopped")
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
