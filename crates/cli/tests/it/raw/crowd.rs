//! Many streams at once.

use super::server::{Raw, printed};

#[test]
fn two_hundred_streams_run_side_by_side() {
    const STREAMS: usize = 200;
    let allowed = runward_testkit::puppet();
    let raw =
        Raw::with(&[("ALLOWED_COMMANDS", allowed.to_str().unwrap()), ("RUNWARD_LIMITS_SESSIONS", "256")]);
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let verbs = |number: usize| {
        [
            "print".to_owned(),
            format!("{number}:"),
            "await".into(),
            go.to_str().unwrap().into(),
            "flood".into(),
            "100000".into(),
        ]
    };
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        let verbs = verbs(number);
        let mut stream = raw.run_puppet(&verbs.iter().map(String::as_str).collect::<Vec<_>>());
        stream.start();
        streams.push(stream);
    }
    std::fs::write(&go, "").unwrap();
    let readers = streams.into_iter().map(|stream| std::thread::spawn(|| stream.events()));
    for (number, reader) in readers.collect::<Vec<_>>().into_iter().enumerate() {
        let events = reader.join().unwrap();
        let out = printed(&events, "stdout");
        let name = format!("{number}:");
        assert!(out.starts_with(name.as_bytes()), "{number} got another's output");
        assert_eq!((out.len(), &events.last().unwrap()["exitCode"]), (100_000 + name.len(), &0.into()));
    }
}
