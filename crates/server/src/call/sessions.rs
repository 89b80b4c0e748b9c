//! Calls that have to do with commands that go on after a reply.

use std::time::Instant;

use runward_engine::{Engine, Kept, NotTaken, Wait};
use runward_model::{Principal, SessionId, Signal};

use super::asking::{Asker, Begun, Holding};
use super::teller::Teller;
use super::{Watcher, begin, gone};
use crate::tools::{Attention, Look, Opening, Portion, Refused, Reply, Telling, chunk, looked, refuse};

/// What a terminal takes for an interrupt.
const INTERRUPT: &str = "\u{3}";

/// Starts a command, waits for a while, and shows what it printed.
pub(super) async fn open(engine: &Engine, opening: Opening, asker: Asker, watcher: Watcher) -> Reply {
    let Opening { request, wait, portion } = opening;
    let (principal, command) = (request.caller.principal.clone(), request.work.to_string());
    let begun = tokio::select! {
        biased;
        begun = begin(engine, request, asker, Holding::Table, watcher.progress.as_ref()) => begun,
        reason = gone(&watcher.cancelled, watcher.disconnected.as_ref()) => {
            return Reply::failed(format!("{reason}; nothing was run"));
        }
    };
    match begun {
        Begun::Reply(reply) => reply,
        Begun::Refused(refusal) => refuse(&Refused { command: &command, refusal: &refusal }),
        Begun::Started(session) => match engine.kept(&principal, session.id()) {
            Ok(kept) => attend_to(engine, &principal, &kept, &wait, portion, watcher).await,
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
    let is_over = kept.session().outcome().is_some();
    if let Some(size) = attention.resize {
        kept.session().resize(size);
    }
    let unwritten = write(&kept, &attention).err();
    if let (Some(why), false) = (&unwritten, is_over) {
        return Reply::failed(why.to_string());
    }
    let reply = attend_to(engine, principal, &kept, &attention.wait, attention.portion, watcher).await;
    match unwritten {
        Some(_) => reply.and("note: nothing was written, since the command had ended"),
        None => reply,
    }
}

fn write(kept: &Kept, attention: &Attention) -> Result<(), NotTaken> {
    let session = kept.session();
    let chars = attention.chars.as_str();
    if !session.is_terminal() && chars == INTERRUPT {
        session.signal(Signal::INT);
    } else if !chars.is_empty() {
        session.write(chars.as_bytes().to_vec())?;
    }
    if attention.closes {
        session.close_input()?;
    }
    if let Some(signal) = attention.signal {
        session.signal(signal);
    }
    Ok(())
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
    loop {
        tokio::select! {
            biased;
            () = &mut waited => break,
            reason = &mut gone => {
                return Reply::failed(format!("{reason}; session {} goes on", session.id()));
            }
            () = teller.due() => teller.tell(session),
        }
    }
    teller.finish().await;
    let taken = kept.take(portion.bytes()).await;
    if taken.outcome.is_some() {
        engine.forget(principal, kept);
    }
    chunk(session, &taken, since.elapsed(), portion)
}

/// Shows something again.
pub(super) async fn look(engine: &Engine, principal: &Principal, look: Look) -> Reply {
    let Some(session) = engine.session(principal, look.session) else {
        return Reply::failed(unknown(look.session));
    };
    let chunk = Kept::look(&session, look.since, look.portion.bytes());
    looked(&session, &chunk, &look)
}

pub(super) fn unknown(id: SessionId) -> String {
    format!(
        "there is no session {id}; it ended long ago, or is another caller's (list_sessions names those that are there)"
    )
}
