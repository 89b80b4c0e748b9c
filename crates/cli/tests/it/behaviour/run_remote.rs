//! The real client in front of the real server.

use std::collections::HashMap;
use std::io::Write;
use std::process::Stdio;

use rustix::process::Signal;

use super::door::{Ask, CallId, Door, Setup};
use crate::raw::server::Raw;
use crate::reply::Reply;
use crate::run_remote::program::{Ended, RunRemote, Started};

struct Remote {
    raw: Raw,
    running: HashMap<CallId, Started>,
    last: u64,
}

pub(super) fn open(setup: &Setup) -> Box<dyn Door> {
    Box::new(Remote { raw: Raw::allowing(&setup.allowed), running: HashMap::new(), last: 0 })
}

impl Door for Remote {
    fn begin(&mut self, ask: &Ask) -> CallId {
        let timeout = format!("--timeout={}ms", ask.timeout.as_millis());
        let cwd = ask.cwd.as_ref().map(|cwd| format!("--cwd={cwd}"));
        let options = [Some(timeout), cwd].into_iter().flatten().chain(["--".into(), ask.file.clone()]);
        let words: Vec<String> = options.chain(ask.args.clone()).collect();
        let run = RunRemote::on(&self.raw, &words.iter().map(String::as_str).collect::<Vec<_>>());
        let mut started = if ask.input.is_some() { run.stdin(Stdio::piped()) } else { run }.start();
        if let Some((mut stdin, input)) = started.0.stdin.take().zip(ask.input.clone()) {
            std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        }
        self.last += 1;
        self.running.insert(CallId(self.last), started);
        CallId(self.last)
    }

    fn finish(&mut self, call: CallId) -> Reply {
        reply(&self.running.remove(&call).unwrap().ended())
    }

    fn cancel(&mut self, call: CallId) {
        self.running[&call].signal(Signal::TERM);
    }

    fn vanish(&mut self, call: CallId) {
        let mut started = self.running.remove(&call).unwrap();
        started.0.kill().unwrap();
        started.0.wait().unwrap();
    }

    fn shut_down(&mut self) {
        self.raw.server.signal(Signal::TERM);
        assert!(self.raw.server.ended().success());
    }

    fn kill(&mut self) {
        self.raw.server.signal(Signal::KILL);
        self.raw.server.ended();
    }

    fn peak_memory_kib(&mut self) -> u64 {
        self.raw.server.peak_memory_kib()
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        for mut started in self.running.drain().map(|(_, started)| started) {
            let _ = started.0.kill();
            let _ = started.0.wait();
        }
    }
}

fn reply(ended: &Ended) -> Reply {
    /// The codes that are the client's own.
    const OWN: std::ops::RangeInclusive<i32> = 246..=254;
    let code = ended.code.unwrap();
    let (stderr, said) = match ended.stderr.rsplit_once("run-remote: ") {
        Some((before, said)) => (before, Some(said.trim_end().to_owned())),
        None => (ended.stderr.as_str(), None),
    };
    let signal = (129..=192).contains(&code).then(|| runward_model::Signal(code - 128).to_string());
    let invalid = std::str::from_utf8(&ended.stdout).is_err();
    Reply {
        is_error: said.is_some(),
        exit_code: (!OWN.contains(&code)).then_some(code.into()),
        stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
        stderr: stderr.to_owned(),
        signal,
        error: said,
        missing: 0,
        invalid_utf8: if invalid { vec!["stdout".into()] } else { Vec::new() },
        background: None,
    }
}
