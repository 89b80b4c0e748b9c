//! What a call costs, against the same work done by hand in the same run.
//!
//! Prints ratios, since absolute figures are this machine's mood: every figure of the server is divided by a bare
//! `posix_spawn` with two pipes, a bare pipe, or an ideal. Run it with `cargo bench`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program that measures, and stops when it cannot"
)]

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod common;

use common::{Bare, Server, median, millis, plausible, timed};

const OUTPUT: usize = 50_000_000;

fn main() {
    if Bare::serve() || std::env::args().any(|arg| arg == "--list") {
        return;
    }
    println!(
        "runward {} on {} cores\n",
        env!("CARGO_PKG_VERSION"),
        std::thread::available_parallelism().unwrap()
    );
    first_answer();
    let mut server = Server::start();
    println!("idle memory               {:>8.1} MB", server.memory("VmRSS:"));
    round_trip(&mut server);
    in_flight(&mut server);
    sleepers(&mut server);
    memory_over_calls(&mut server);
    flood(&mut server);
}

/// From the start of the process to the answer to `initialize`, against the start of `/bin/true`.
fn first_answer() {
    let mut times: Vec<Duration> = (0..20)
        .map(|_| {
            let start = Instant::now();
            let server = Server::start();
            let time = start.elapsed();
            drop(server);
            time
        })
        .collect();
    println!("first answer              {:>8.2} ms   (aim ≤ 10)", millis(median(&mut times)));
}

/// `execute_process true` against a bare spawn with two pipes, in turns.
fn round_trip(server: &mut Server) {
    let (mut bare, mut through, mut least_of_all) = (Vec::new(), Vec::new(), Bare::start());
    for _ in 0..40 {
        bare.extend(least_of_all.measure(25));
        for _ in 0..25 {
            through.push(timed(|| server.call_true()));
        }
    }
    let least = |times: &[Duration]| millis(*times.iter().min().unwrap());
    println!("bare spawn of true        {:>8.3} ms   (min {:.3})", millis(median(&mut bare)), least(&bare));
    println!(
        "execute_process true      {:>8.3} ms   (min {:.3})",
        millis(median(&mut through)),
        least(&through)
    );
    let ratio = plausible(millis(median(&mut through)) / millis(median(&mut bare)));
    println!(
        "  ÷ bare                  {ratio:>8.2} ×    (aim ≤ 1.6, confined and recorded; min ÷ min {:.2})",
        least(&through) / least(&bare)
    );
}

/// 32 calls of `true` in flight against 32 threads that spawn it.
fn in_flight(server: &mut Server) {
    const WIDTH: usize = 32;
    const ROUNDS: usize = 12;
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(timed(|| {
            std::thread::scope(|scope| (0..WIDTH).for_each(|_| drop(scope.spawn(spawn_true))));
        }));
        through.push(timed(|| {
            let ids: Vec<u64> = (0..WIDTH).map(|_| server.send_true()).collect();
            server.receive_all(&ids);
        }));
    }
    let share = 100.0 * millis(median(&mut bare)) / millis(median(&mut through));
    println!("32 × true in flight       {share:>8.0} %    of bare (aim ≥ 75)");
}

/// 32 calls of `sleep 0.05` against the ideal of 50 ms.
fn sleepers(server: &mut Server) {
    let mut times: Vec<Duration> = (0..8)
        .map(|_| {
            timed(|| {
                let ids: Vec<u64> = (0..32).map(|_| server.send("sleep", &["0.05"])).collect();
                server.receive_all(&ids);
            })
        })
        .collect();
    println!(
        "32 × sleep 0.05           {:>8.0} %    of ideal (aim ≥ 85)",
        100.0 * 50.0 / millis(median(&mut times))
    );
}

fn memory_over_calls(server: &mut Server) {
    let before = server.memory("VmRSS:");
    (0..2000).for_each(|_| server.call_true());
    let after = server.memory("VmRSS:");
    println!(
        "memory, 2,000 more calls  {:>8.1} MB   (from {before:.1}; {} descriptors)",
        after,
        server.descriptors()
    );
}

/// 50 MB of output against the same bytes through a bare pipe.
fn flood(server: &mut Server) {
    let size = OUTPUT.to_string();
    let args = ["-c", &size, "/dev/zero"];
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        bare.push(timed(|| {
            let mut child = Command::new("head").args(args).stdout(Stdio::piped()).spawn().unwrap();
            let mut buffer = vec![0; 65536];
            let mut output = child.stdout.take().unwrap();
            let mut total = 0;
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                total += read;
            }
            child.wait().unwrap();
            assert_eq!(total, OUTPUT);
        }));
        through.push(timed(|| {
            server.send("head", &args);
            assert!(server.receive().contains("bytes missing"));
        }));
    }
    let (bare, through) = (millis(median(&mut bare)), millis(median(&mut through)));
    println!("50 MB of output           {through:>8.1} ms   bare pipe {bare:.1} ms");
    println!("  ÷ bare                  {:>8.2} ×    (aim ≤ 3)", through / bare);
    println!("peak memory               {:>8.1} MB   (aim ≤ 32)", server.memory("VmHWM:"));
}

fn spawn_true() {
    let child =
        Command::new("true").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    assert!(child.unwrap().wait_with_output().unwrap().status.success());
}
