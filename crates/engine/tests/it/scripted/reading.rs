//! Readers: early, late, slow, and those that write.

use std::time::Duration;

use runward_engine::{Event, NotTaken, OnDisconnect, Watch};
use runward_model::{Request, Stdio, Stream};

use super::Play;
use crate::setup::ask;

fn events(on_disconnect: OnDisconnect) -> Watch {
    Watch::Events { shape: |_, _, bytes| bytes.to_vec(), on_disconnect }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_comes_late_reads_everything_from_the_first_byte() {
    let watch = events(OnDisconnect::Detach);
    let (mut session, mut command) = Play::new().watched(ask(&[]), watch).await;
    for text in [b"one ", b"two "] {
        command.print(Stream::Stdout, text).await;
    }
    command.exits(0);
    command.end_of_outputs();
    session.over().await;
    for _ in 0..2 {
        let (mut reader, mut read) = (session.events().unwrap().reader(0), Vec::new());
        while let Event::Printed(bytes) = reader.next().await.unwrap() {
            read.extend_from_slice(&bytes);
        }
        assert_eq!(read, b"one two ");
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_waits_for_a_reader_that_may_miss_nothing() {
    let (session, command) = Play::new().watched(ask(&[]), events(OnDisconnect::Stop)).await;
    let block = vec![b'x'; 1 << 20];
    let flooding = async {
        for _ in 0..200 {
            command.print(Stream::Stdout, &block).await;
        }
    };
    tokio::pin!(flooding);
    let waits = tokio::time::timeout(Duration::from_secs(30), &mut flooding).await.is_err();
    assert!(waits, "nothing holds it back");
    let mut reader = session.events().unwrap().reader(0);
    let mut read = 0;
    let reading = async {
        while read < 200 << 20 {
            match reader.next().await.unwrap() {
                Event::Printed(bytes) => read += bytes.len(),
                other => panic!("{other:?}"),
            }
        }
    };
    tokio::join!(flooding, reading);
}

#[tokio::test(start_paused = true)]
async fn what_is_written_arrives_in_order_and_then_its_end() {
    let (session, mut command) = Play::new().start(Request { stdio: Stdio::Open, ..ask(&[]) }).await;
    session.write(b"one".to_vec()).unwrap();
    session.write(b"two".to_vec()).unwrap();
    session.close_input().unwrap();
    assert_eq!(command.stdin.recv().await.unwrap(), b"one");
    assert_eq!(command.stdin.recv().await.unwrap(), b"two");
    assert_eq!(command.stdin.recv().await, None);
    tokio::task::yield_now().await;
    assert_eq!(session.write(b"more".to_vec()), Err(NotTaken::Closed));
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_already_is_not_written_again() {
    let (session, mut command) = Play::new().start(Request { stdio: Stdio::Open, ..ask(&[]) }).await;
    assert_eq!(session.write_at(Some(0), b"abc").await, Ok(3));
    assert_eq!(session.write_at(Some(1), b"bcd").await, Ok(4));
    assert_eq!(session.write_at(None, b"e").await, Ok(5));
    assert_eq!(session.write_at(Some(9), b"z").await, Err(NotTaken::Missing { at: 9, written: 5 }));
    let mut arrived = Vec::new();
    while arrived.len() < 5 {
        arrived.extend(command.stdin.recv().await.unwrap());
    }
    assert_eq!(arrived, b"abcde");
}
