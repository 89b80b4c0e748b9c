//! A user who may have no more processes.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use crate::program::Program;
use crate::raw::server::Raw;

/// Whether the limit binds whoever runs this.
fn is_bound() -> bool {
    let bound = !rustix::process::geteuid().is_root();
    if !bound {
        println!("skipped: the limit on processes does not bind root");
    }
    bound
}

#[test]
fn a_server_that_cannot_have_a_thread_says_so() {
    if is_bound() {
        let program = Program::new(&["serve", "--bind", "127.0.0.1:0"])
            .after("{ ulimit -u 1 || ulimit -p 1; } 2> /dev/null");
        let (code, told) = program.run_unread();
        assert_eq!(code, 70);
        assert!(told.contains("cannot start a thread; the limit on processes is reached"), "{told}");
    }
}

#[test]
fn a_server_that_can_have_no_more_processes_lives_and_says_so() {
    if is_bound() {
        let raw = Raw::allowing("*");
        let pid = Pid::from_raw(i32::try_from(raw.server.pid()).unwrap());
        let before = prlimit(pid, Resource::Nproc, Rlimit { current: Some(1), maximum: None });
        if before.is_err() {
            let maximum = rustix::process::getrlimit(Resource::Nproc).maximum;
            prlimit(pid, Resource::Nproc, Rlimit { current: Some(1), maximum }).unwrap();
        }
        for _ in 0..3 {
            let answer = raw.post("/raw", &json!({"executable": "true", "args": ["x".repeat(100_000)]}));
            assert!([429, 500].contains(&answer.status), "{}", answer.status);
            let large = raw.post("/raw", &json!({"executable": "no-such-program"}));
            assert_eq!(large.status, 404);
        }
        assert_eq!(raw.send("GET", "/healthz", &[], b"").status, 200);
    }
}
