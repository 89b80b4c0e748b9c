use super::*;

fn line(seq: u64, stream: Stream, data: &[u8]) -> Vec<u8> {
    [format!("{seq} {} ", stream.name()).as_bytes(), data].concat()
}

fn printed(seq: u64, stream: Stream, data: &[u8]) -> Event {
    Event::Printed(Arc::new(line(seq, stream, data)))
}

async fn next(reader: &mut Reader) -> Event {
    reader.next().await.unwrap()
}

#[tokio::test]
async fn events_are_numbered_from_one_and_end_with_a_free_number() {
    let tap = Arc::new(Tap::window(Keeping::UntilTaken, line));
    let mut reader = tap.reader(0);
    tap.push(Stream::Stdout, b"a");
    tap.push(Stream::Stderr, b"");
    tap.push(Stream::Stderr, b"b");
    tap.close();
    assert_eq!(next(&mut reader).await, printed(1, Stream::Stdout, b"a"));
    assert_eq!(next(&mut reader).await, printed(2, Stream::Stderr, b"b"));
    assert_eq!(next(&mut reader).await, Event::End { seq: 3 });
    assert_eq!(next(&mut reader).await, Event::End { seq: 3 });
}

#[tokio::test]
async fn a_reader_that_waits_hears_of_what_is_printed() {
    let tap = Arc::new(Tap::window(Keeping::UntilTaken, line));
    let mut reader = tap.reader(0);
    let (event, ()) = tokio::join!(reader.next(), async {
        tokio::task::yield_now().await;
        tap.push(Stream::Stdout, b"late");
    });
    assert_eq!(event.unwrap(), printed(1, Stream::Stdout, b"late"));
}

#[tokio::test]
async fn a_full_window_has_room_once_something_was_taken() {
    let tap = Arc::new(Tap::window(Keeping::UntilTaken, line));
    let mut reader = tap.reader(0);
    tap.has_room().await;
    tap.push(Stream::Stdout, &vec![0; WINDOW]);
    assert!(tap.is_full());
    let ((), _) = tokio::join!(tap.has_room(), async {
        tokio::task::yield_now().await;
        next(&mut reader).await
    });
    assert!(!tap.is_full());
}

#[tokio::test]
async fn what_has_not_arrived_can_be_read_again_and_what_has_is_gone() {
    let tap = Arc::new(Tap::window(Keeping::UntilAcknowledged, line));
    for text in [b"a", b"b", b"c"] {
        tap.push(Stream::Stdout, text);
    }
    let mut first = tap.reader(1);
    next(&mut first).await;
    next(&mut first).await;
    tap.acknowledge(1);
    assert_eq!(next(&mut tap.reader(2)).await, printed(2, Stream::Stdout, b"b"));
    assert_eq!(next(&mut tap.reader(1)).await, Event::Gone);
    assert_eq!(next(&mut first).await, printed(3, Stream::Stdout, b"c"));
}

#[tokio::test]
async fn a_session_whose_reader_is_gone_is_not_held_back() {
    let tap = Arc::new(Tap::window(Keeping::UntilAcknowledged, line));
    tap.push(Stream::Stdout, &vec![0; UNACKNOWLEDGED]);
    let mut reader = tap.reader(1);
    assert!(tap.is_full());
    tap.abandon();
    tap.has_room().await;
    tap.push(Stream::Stdout, b"x");
    assert_eq!(next(&mut reader).await, Event::Gone);
}
