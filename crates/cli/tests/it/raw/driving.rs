//! What goes to a session that runs.

use serde_json::{Value, json};

use super::server::{Answer, Raw, printed, puppet_with, unpacked};

fn started(raw: &Raw, body: &Value) -> (Answer, String) {
    let mut stream = raw.run(body);
    let session = stream.start();
    (stream, session)
}

fn reading(verbs: &[&str]) -> Value {
    let mut body = puppet_with(verbs);
    body["stdin"] = json!("stream");
    body
}

fn shell(script: &str) -> Value {
    json!({"executable": "sh", "args": ["-c", script]})
}

/// Reads until this was printed.
fn wait_for(stream: &mut Answer, wanted: &str) {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(wanted) {
        let event =
            stream.event().unwrap_or_else(|| panic!("no {wanted} in {}", String::from_utf8_lossy(&seen)));
        seen.extend(unpacked(&event));
    }
}

#[test]
fn input_is_written_in_pieces_and_ended() {
    let raw = Raw::puppet();
    let (stream, session) = started(&raw, &reading(&["echo"]));
    let stdin = format!("/raw/{session}/stdin");
    let answer = raw.send("POST", &stdin, &[], b"one \xff");
    assert_eq!(answer.json(), json!({"written": 5}));
    assert_eq!(raw.send("POST", &format!("{stdin}?end=true"), &[], b" two").status, 200);
    let events = stream.events();
    assert_eq!(printed(&events, "stdout"), b"one \xff two");
}

#[test]
fn input_that_is_sent_twice_is_taken_once_and_input_that_is_missing_is_asked_for() {
    let raw = Raw::puppet();
    let (stream, session) = started(&raw, &reading(&["echo"]));
    let write =
        |at: u64, bytes: &[u8]| raw.send("POST", &format!("/raw/{session}/stdin?at={at}"), &[], bytes);
    assert_eq!(write(0, b"abc").json(), json!({"written": 3}));
    assert_eq!(write(0, b"abc").json(), json!({"written": 3}));
    assert_eq!(write(2, b"cde").json(), json!({"written": 5}));
    assert_eq!(write(9, b"x").refusal(), (409, "input_missing".to_owned()));
    raw.send("POST", &format!("/raw/{session}/stdin?at=5&end=true"), &[], b"");
    assert_eq!(printed(&stream.events(), "stdout"), b"abcde");
}

#[test]
fn ten_megabytes_of_input_come_back_whole_while_nobody_else_waits() {
    const BYTES: usize = 10_000_000;
    let raw = Raw::allowing("cat");
    let (stream, session) = started(&raw, &json!({"executable": "cat", "stdin": "stream"}));
    let reader = std::thread::spawn(|| stream.events());
    let input: Vec<u8> = (0..=250).cycle().take(BYTES).collect();
    for (number, block) in input.chunks(1_000_000).enumerate() {
        let at = number * 1_000_000;
        assert_eq!(raw.send("POST", &format!("/raw/{session}/stdin?at={at}"), &[], block).status, 200);
    }
    raw.send("POST", &format!("/raw/{session}/stdin?at={BYTES}&end=true"), &[], b"");
    assert!(printed(&reader.join().unwrap(), "stdout") == input);
}

#[test]
fn a_session_without_input_takes_none() {
    let raw = Raw::puppet();
    let (_stream, session) = started(&raw, &puppet_with(&["wait"]));
    let answer = raw.send("POST", &format!("/raw/{session}/stdin"), &[], b"x");
    assert_eq!(answer.refusal(), (409, "input_closed".to_owned()));
}

#[test]
fn a_signal_reaches_the_program() {
    let raw = Raw::allowing("*");
    let script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.01; done";
    let (mut stream, session) = started(&raw, &shell(script));
    wait_for(&mut stream, "ready");
    assert_eq!(raw.post(&format!("/raw/{session}/signal"), &json!({"signal": "INT"})).status, 200);
    let events = stream.events();
    assert_eq!(
        (printed(&events, "stdout").as_slice(), &events.last().unwrap()["exitCode"]),
        (b"caught\n".as_slice(), &json!(9))
    );
    let nonsense = raw.post(&format!("/raw/{session}/signal"), &json!({"signal": "LOUD"}));
    assert_eq!(nonsense.refusal().0, 400);
}

#[test]
fn a_terminal_has_the_size_that_was_asked_for_and_can_be_resized() {
    let raw = Raw::allowing("*");
    let mut body = shell(
        "test -t 0 && test -t 2 && stty size; trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.01; done",
    );
    body["tty"] = json!({"rows": 31, "cols": 97});
    let (mut stream, session) = started(&raw, &body);
    wait_for(&mut stream, "31 97\r\nready\r\n");
    let answer = raw.post(&format!("/raw/{session}/resize"), &json!({"rows": 7, "cols": 60}));
    assert_eq!(answer.status, 200);
    wait_for(&mut stream, "7 60\r\n");
}

#[test]
fn what_is_typed_goes_through_the_terminal() {
    let raw = Raw::allowing("*");
    let mut body = shell("read line; echo \"got $line\"; exec cat");
    body["tty"] = json!({"rows": 24, "cols": 80});
    let (mut stream, session) = started(&raw, &body);
    let stdin = format!("/raw/{session}/stdin");
    raw.send("POST", &stdin, &[], b"hello\r");
    wait_for(&mut stream, "got hello\r\n");
    raw.send("POST", &stdin, &[], b"\x03");
    let events = stream.events();
    assert_eq!(events.last().unwrap()["signal"], "SIGINT", "{events:?}");
}
