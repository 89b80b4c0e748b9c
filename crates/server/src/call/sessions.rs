//! Calls that have to do with commands that go on after a reply.

use std::time::Instant;

use runward_engine::{Engine, Kept, NotTaken, Session, Wait, Watch};
use runward_model::{Principal, SessionId, Signal, StopReason};
use tokio_util::sync::CancellationToken;

use super::asking::{Asker, Begun};
use super::teller::Teller;
use super::{ATTACHED, Watcher, begin, gone};
use crate::clean::complete;
use crate::tools::{
    Attention, Look, Opening, Portion, Refused, Reply, Telling, Touch, chunk, looked, readiness, refuse,
};

/// What a terminal takes for an interrupt.
const INTERRUPT: &str = "\u{3}";

/// Starts a command, waits for a while, and shows what it printed.
pub(super) async fn open(engine: &Engine, opening: Opening, asker: Asker, watcher: Watcher) -> Reply {
    let Opening { request, wait, portion } = opening;
    let (principal, command) = (request.caller.principal.clone(), request.work.to_string());
    // Without its number nobody could come back to it.
    let is_found_again = !principal.is_any_client() || request.workflow.key.is_some();
    let left = [Some(watcher.cancelled.clone()), watcher.disconnected.clone()];
    let begun = tokio::select! {
        biased;
        begun = begin(engine, request, asker, Watch::Kept, watcher.progress.as_ref()) => begun,
        reason = gone(&watcher.cancelled, watcher.disconnected.as_ref()) => {
            return Reply::failed(format!("{reason}; nothing was run"));
        }
    };
    match begun {
        Begun::Reply(reply) => reply,
        Begun::Refused(refusal) => refuse(&Refused { command: &command, refusal: &refusal }),
        Begun::Started(session) => match engine.kept(&principal, session.id()) {
            Ok(kept) => {
                let reply = attend_to(engine, &principal, &kept, &wait, portion, watcher).await;
                if !is_found_again && left.iter().flatten().any(CancellationToken::is_cancelled) {
                    session.stop(StopReason::Disconnected);
                }
                if session.is_attached() { reply.and(ATTACHED) } else { reply }
            }
            Err(none) => Reply::failed(format!("session {}: {none}", session.id())),
        },
    }
}

/// Writes to a session, waits for a while, and shows what it printed.
pub(super) async fn attend(
    engine: &Engine,
    principal: &Principal,
    attention: Attention,
    watcher: Watcher,
) -> Reply {
    let kept = match engine.kept(principal, attention.session) {
        Ok(kept) => kept,
        Err(none) => return Reply::failed(format!("session {}: {none}", attention.session)),
    };
    let (session, touch) = (kept.session(), &attention.touch);
    let was_over = session.outcome().is_some();
    if !was_over && let Err(why) = act(session, touch) {
        return Reply::failed(why);
    }
    let reply = attend_to(engine, principal, &kept, &attention.wait, attention.portion, watcher).await;
    let note = if was_over { too_late(touch) } else { not_taken(session, touch) };
    match note {
        Some(note) => reply.and(format!("note: {note}")),
        None => reply,
    }
}

fn too_late(touch: &Touch) -> Option<&'static str> {
    (!touch.is_none()).then_some("nothing was written or sent, since the command had ended")
}

/// What a command has done with its input, where that is not all that was wanted.
fn not_taken(session: &Session, touch: &Touch) -> Option<&'static str> {
    let wrote = !touch.chars.is_empty() && !touch.closes && !is_interrupt(session, touch);
    if wrote && session.is_input_closed() && session.outcome().is_none() {
        return Some("the command has closed its stdin; not all that was written was read");
    }
    session.has_unread_input().then_some("the command has not read all of its input yet")
}

fn act(session: &Session, touch: &Touch) -> Result<(), String> {
    match touch.resize {
        Some(_) if !session.is_terminal() => {
            return Err("this session has no terminal; start it with tty=true to give it a size".to_owned());
        }
        Some(size) => session.resize(size),
        None => {}
    }
    write(session, touch).map_err(|why| why.to_string())
}

fn write(session: &Session, touch: &Touch) -> Result<(), NotTaken> {
    if is_interrupt(session, touch) {
        session.signal(Signal::INT);
    } else if !touch.chars.is_empty() {
        session.write(touch.chars.as_bytes().to_vec())?;
    }
    if touch.closes {
        session.close_input()?;
    }
    if let Some(signal) = touch.signal {
        session.signal(signal);
    }
    Ok(())
}

/// On pipes there is no terminal to make a signal of it.
fn is_interrupt(session: &Session, touch: &Touch) -> bool {
    !session.is_terminal() && touch.chars == INTERRUPT
}

/// Waits, and takes what there is. A caller that goes away meanwhile takes nothing: it is all there for the next one.
async fn attend_to(
    engine: &Engine,
    principal: &Principal,
    kept: &Kept,
    wait: &Wait,
    portion: Portion,
    watcher: Watcher,
) -> Reply {
    let since = Instant::now();
    let session = kept.session();
    let mut teller = Teller::new(Telling::Heartbeat, watcher.progress, session);
    let gone = gone(&watcher.cancelled, watcher.disconnected.as_ref());
    let waited = kept.wait(wait);
    tokio::pin!(gone, waited);
    let met = loop {
        tokio::select! {
            biased;
            met = &mut waited => break met,
            reason = &mut gone => {
                return Reply::failed(format!("{reason}; session {} goes on", session.id()));
            }
            () = teller.due() => teller.tell(session),
        }
    };
    teller.finish().await;
    let readiness = readiness(&wait.ready, met, since.elapsed());
    let taken = kept.take(portion.bytes(), complete).await;
    if taken.outcome.as_ref().is_some_and(|outcome| outcome.tree.left.is_none()) {
        engine.forget(principal, kept);
    }
    chunk(session, &taken, (since.elapsed(), readiness), portion)
}

/// Shows something again.
pub(super) fn look(engine: &Engine, principal: &Principal, look: &Look) -> Reply {
    let Some(session) = engine.session(principal, look.session) else {
        return Reply::failed(unknown(look.session));
    };
    let chunk = Kept::look(&session, look.since, look.portion.bytes());
    looked(&session, &chunk, look)
}

pub(super) fn unknown(id: SessionId) -> String {
    format!(
        "there is no session {id}; it ended long ago, or is another caller's (list_sessions names those that are there)"
    )
}
