//! What a record costs, against the same bytes appended to a plain file in the same run.
//!
//! Run it with `cargo bench -p runward-audit`.
#![expect(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a program that measures, and stops when it cannot"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

use runward_audit::redact::{Redactor, Secrets, redact_command};
use runward_audit::{CallId, Closed, Command, Durability, Entry, Filter, Judged, Order, Ruling, Trail};
use runward_model::Decision;

const CALLS: usize = 2_000;

fn main() {
    if std::env::args().any(|arg| arg == "--list") {
        return;
    }
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let plain = plain_file(&directory.path().join("plain"), CALLS, |_| ());
    let synced = plain_file(&directory.path().join("synced"), 300, |file| file.sync_data().unwrap());
    show("plain append", plain.clone(), &plain);
    show("plain append + fdatasync", synced, &plain);
    let patterns = timed(|| redact_command("").len());
    println!("compile the patterns   {patterns:>8.1?}");
    let first = Instant::now();
    let trail = Trail::at(directory.path().join("crash.db"));
    trail.append_all(call("echo first")).unwrap();
    println!("make the file          {:>8.1?}", first.elapsed());
    show("record, survives a crash", records(&trail, CALLS), &plain);
    let careful = Trail::at(directory.path().join("power.db")).with_durability(Durability::PowerLoss);
    careful.append_all(call("echo first")).unwrap();
    show("record, survives power loss", records(&careful, 300), &plain);
    show("refusal (two records at once)", refusals(&trail, CALLS), &plain);
    reading(&trail);
    redacting();
}

fn show(what: &str, times: Vec<Duration>, plain: impl AsRef<[Duration]>) {
    let (mut times, mut plain) = (times, plain.as_ref().to_vec());
    times.sort_unstable();
    plain.sort_unstable();
    let at = |part: usize| times[times.len() * part / 100];
    let ratio = at(50).as_secs_f64() / plain[plain.len() / 2].as_secs_f64();
    println!(
        "{what:<32} p50 {:>9.1?}  p99 {:>9.1?}  max {:>9.1?}  {ratio:>6.1} x plain",
        at(50),
        at(99),
        at(99).max(times[times.len() - 1])
    );
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn plain_file(path: &std::path::Path, count: usize, after: impl Fn(&File)) -> Vec<Duration> {
    let mut file = File::create(path).unwrap();
    let line = vec![b'x'; 700];
    (0..count)
        .map(|_| {
            timed(|| {
                file.write_all(&line).unwrap();
                after(&file);
            })
        })
        .collect()
}

fn call(command: &str) -> [Entry; 2] {
    let call = CallId::fresh();
    let ruling =
        Ruling { decision: Decision::Allow, rule: None, reason: "git is in allowed_commands".into() };
    let words = command.split(' ').map(str::to_owned).collect();
    let commands = vec![Command { words, program: Some("/usr/bin/git".into()), ruling: ruling.clone() }];
    let judged = Judged {
        call: call.clone(),
        door: "shell".into(),
        client: None,
        principal: "local".into(),
        command: command.into(),
        commands,
        program: Some("/usr/bin/git".into()),
        directory: Some("/home/ada/project".into()),
        variables: ["PATH", "HOME", "LANG", "TERM"].map(String::from).to_vec(),
        verdict: Some(ruling),
        omitted: None,
    };
    [judged.into(), Closed::refused(call, "measured").into()]
}

fn records(trail: &Trail, count: usize) -> Vec<Duration> {
    let entries = (0..count / 2).flat_map(|number| call(&format!("git log --oneline -n {number}")));
    entries.map(|entry| timed(|| trail.append(entry).unwrap())).collect()
}

fn refusals(trail: &Trail, count: usize) -> Vec<Duration> {
    let entries = (0..count).map(|number| call(&format!("git log --oneline -n {number}")));
    entries.map(|pair| timed(|| trail.append_all(pair).unwrap())).collect()
}

fn reading(trail: &Trail) {
    let mut count = 0;
    let verified = timed(|| count = trail.verify().unwrap().records);
    println!("verify                 {:>8.1} µs a record", verified.as_secs_f64() * 1e6 / count as f64);
    let mut calls = 0;
    let listed = timed(|| calls = trail.query(Filter::default(), Order::default()).count());
    println!("list                   {:>8.1} µs a call", listed.as_secs_f64() * 1e6 / calls as f64);
    let page = Filter { limit: Some(50), ..Filter::default() };
    println!("list the latest 50     {:>8.1?}", timed(|| trail.query(page, Order::default()).count()));
}

fn redacting() {
    let plain = "git log --oneline --since=2026-01-01 -- crates/audit/src/lib.rs | head -n 20";
    let secret = "curl -H 'Authorization: Bearer abcdefghijklmnop' https://ada:secret@example.com/";
    for (what, text) in [("without a secret", plain), ("with secrets", secret)] {
        let time = timed(|| (0..1_000).for_each(|_| drop(black_box(redact_command(text)))));
        println!("redact a command {what:<17} {:>6.1} µs", time.as_secs_f64() * 1e3);
    }
    let output = "a line of output that holds nothing secret at all\n".repeat(20_000);
    let mut redactor = Redactor::new(Secrets::new(["correct horse battery", "ghp_0123456789"]).unwrap());
    let time = timed(|| output.as_bytes().chunks(65_536).for_each(|piece| drop(redactor.push(piece))));
    println!("redact output          {:>8.2} GB/s", output.len() as f64 / time.as_secs_f64() / 1e9);
}
