//! Readers that may miss nothing.

use std::time::Duration;

use runward_engine::{Conversation, Engine, Event, OnDisconnect, Session, Watch};
use runward_model::{StopReason, Stream};
use runward_testkit::eventually_async;

use crate::setup::*;

/// More than the window holds, and less than that and a pipe.
const BETWEEN: usize = 2_700_000;

fn plainly(_: u64, _: Stream, bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

async fn flooding(engine: &Engine, bytes: usize, on_disconnect: OnDisconnect) -> Session {
    let (request, watch) =
        (ask(&["flood", &bytes.to_string()]), Watch::Events { shape: plainly, on_disconnect });
    engine.start(request, &Conversation::default(), watch).await.unwrap()
}

/// Everything that is left to read.
async fn all(reader: &mut runward_engine::EventReader) -> usize {
    let mut total = 0;
    loop {
        match reader.next().await.unwrap() {
            Event::Printed(line) => total += line.len(),
            Event::End { .. } => return total,
            other => panic!("{other:?}"),
        }
    }
}

async fn until_gone(session: &Session) {
    let gone = || !std::path::Path::new(&format!("/proc/{}/fd/1", session.pid())).exists();
    eventually_async("it has ended", gone, async |pause| tokio::time::sleep(pause).await).await;
}

#[test]
fn what_an_ended_command_left_in_its_pipe_waits_for_its_reader() {
    block_on(settings(), async |engine| {
        let mut session = flooding(engine, BETWEEN, OnDisconnect::Stop).await;
        let mut reader = session.events().unwrap().reader(1);
        until_gone(&session).await;
        // Longer than outputs that somebody else holds open are waited for.
        tokio::time::sleep(settings().drain_grace * 4).await;
        assert!(session.outcome().is_none(), "it waits for its reader");
        assert_eq!(all(&mut reader).await, BETWEEN);
        let outcome = session.over().await;
        assert_eq!((outcome.exit_code(), outcome.output_cut), (0, false));
    });
}

#[test]
fn a_stop_gets_through_to_a_command_that_is_held_back() {
    block_on(settings(), async |engine| {
        let mut session = flooding(engine, 1 << 40, OnDisconnect::Stop).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        session.stop(StopReason::Cancelled);
        until_gone(&session).await;
        session.events().unwrap().abandon();
        assert_eq!(session.over().await.stopped, Some(StopReason::Cancelled));
    });
}

#[test]
fn a_shutdown_waits_for_no_reader() {
    block_on(settings(), async |engine| {
        let mut session = flooding(engine, 1 << 40, OnDisconnect::Resume(MINUTE)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        engine.shutdown().await;
        assert_eq!(session.over().await.stopped, Some(StopReason::ShuttingDown));
    });
}
