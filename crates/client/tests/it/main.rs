//! The client against servers that send exactly what they are told to.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use proptest::prelude::*;
use runward_client::{Call, Error, Event, Events, Exit, Server};

/// A server for one connection: reads a request and sends these pieces.
fn server(pieces: Vec<Vec<u8>>) -> (Server, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/raw", listener.local_addr().unwrap()).parse().unwrap();
    let thread = std::thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        socket.set_nodelay(true).unwrap();
        let request = request(&mut socket);
        for piece in &pieces {
            socket.write_all(piece).unwrap();
        }
        request
    });
    (Server::new(address, Some("secret".into())), thread)
}

fn request(socket: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"}") {
        socket.read_exact(&mut byte).unwrap();
        request.extend(byte);
    }
    String::from_utf8(request).unwrap()
}

fn call() -> Call {
    Call { executable: "ls".into(), ..Call::default() }
}

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Three lines that say everything.
const LINES: &str = concat!(
    r#"{"event":"start","seq":0,"session":"ab12","pid":7}"#,
    "\n",
    r#"{"event":"stdout","seq":1,"data_b64":"AAH+/w=="}"#,
    "\n",
    r#"{"event":"exit","seq":2,"exitCode":3}"#,
    "\n",
);

/// What is printed and how it ends.
fn all(mut events: Events) -> (Vec<u8>, Option<Exit>) {
    let (mut printed, mut end) = (Vec::new(), None);
    while let Some(event) = events.read_next().unwrap() {
        match event {
            Event::Output { data, .. } => printed.extend_from_slice(data),
            Event::Exit(exit) => end = Some(exit),
            _ => {}
        }
    }
    (printed, end)
}

/// The bytes cut at these places.
fn cut(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| bytes[pair[0]..pair[1]].to_vec()).filter(|piece| !piece.is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn events_are_the_same_wherever_chunks_and_packets_are_cut(
        chunks in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        packets in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut sent = HEAD.to_vec();
        for chunk in cut(LINES.as_bytes(), &chunks) {
            sent.extend(format!("{:x};note=x\r\n", chunk.len()).into_bytes());
            sent.extend(chunk);
            sent.extend(b"\r\n");
        }
        sent.extend(b"0\r\nX-Trailer: y\r\n\r\n");
        let (server, thread) = server(cut(&sent, &packets));
        let (printed, end) = all(server.run(&call()).unwrap());
        prop_assert_eq!(printed, b"\x00\x01\xfe\xff");
        prop_assert_eq!(end.unwrap().code, Some(3));
        thread.join().unwrap();
    }
}

#[test]
fn a_request_carries_the_token_and_nothing_that_was_not_given() {
    let body = format!("{:x}\r\n{LINES}\r\n0\r\n\r\n", LINES.len());
    let (server, thread) = server(vec![HEAD.to_vec(), body.into_bytes()]);
    all(server.run(&call()).unwrap());
    let request = thread.join().unwrap();
    assert!(request.starts_with("POST /raw HTTP/1.1\r\nHost: 127.0.0.1:"), "{request}");
    assert!(request.contains("\r\nAuthorization: Bearer secret\r\n"), "{request}");
    assert!(request.ends_with("\r\n\r\n{\"executable\":\"ls\"}"), "{request}");
}

#[test]
fn a_refusal_is_told_in_the_words_of_the_server() {
    let body = r#"{"error":{"code":"denied","message":"no"}}"#;
    let answer = format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let (server, _thread) = server(vec![answer.into_bytes()]);
    let Err(Error::Rejected { status, code, message }) = server.run(&call()) else { panic!("not refused") };
    assert_eq!((status, code.as_str(), message.as_str()), (403, "denied", "no"));
}

#[test]
fn a_stream_that_breaks_off_is_lost_and_not_over() {
    let body = format!("{:x}\r\n{LINES}\r\n", LINES.len() + 1);
    let (server, _thread) = server(vec![HEAD.to_vec(), body.into_bytes()]);
    let mut events = server.run(&call()).unwrap();
    let error = loop {
        match events.read_next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("over"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::Lost(_)), "{error}");
    assert_eq!(events.next_number(), 3);
}

#[test]
fn an_answer_of_something_else_makes_no_sense() {
    for answer in ["SSH-2.0-OpenSSH\r\n", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>"] {
        let (server, _thread) = server(vec![answer.into()]);
        assert!(matches!(server.run(&call()), Err(Error::Protocol(_))), "{answer}");
    }
}

#[test]
fn nobody_there_is_told_with_the_address() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server::new(format!("http://{free}/raw").parse().unwrap(), None);
    let Err(error) = server.run(&call()) else { panic!("somebody is there") };
    assert!(error.is_refused());
    assert!(error.to_string().starts_with(&format!("cannot connect to http://{free}/raw: ")), "{error}");
}
