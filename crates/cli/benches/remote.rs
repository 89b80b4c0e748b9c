//! What a remote command costs, against ssh on a kept connection and against no network at all, in the same run.
//!
//! Prints ratios, since absolute figures are this machine's mood. Run it with `cargo bench --bench remote`; the part
//! with ssh needs `sshd` and is skipped aloud without it.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a program that measures, and stops when it cannot"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use runward_client::{Call, Event, Server};

mod common;

use common::{median, millis, timed};

/// What goes through each way.
const BYTES: u64 = 1_000_000_000;

/// How often each way is tried; the best one counts.
const ROUNDS: usize = 3;

fn main() {
    if std::env::args().any(|arg| arg == "--list") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let runward = Runward::start(directory.path());
    let ssh = Ssh::start(directory.path());
    if ssh.is_none() {
        println!("skipped: there is no usable sshd, so nothing is measured against ssh");
    }
    round_trip(&runward, ssh.as_ref());
    throughput(&runward, ssh.as_ref());
    println!("server memory, peak       {:>8.1} MB   (aim ≤ 40)", runward.peak_memory());
}

/// `true` by each way, in turns.
fn round_trip(runward: &Runward, ssh: Option<&Ssh>) {
    let (mut bare, mut remote, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..60 {
        for _ in 0..5 {
            bare.push(timed(|| succeed(&mut Command::new("true"))));
            remote.push(timed(|| succeed(runward.run_remote().args(["--", "true"]))));
            if let Some(ssh) = ssh {
                kept.push(timed(|| succeed(ssh.command().arg("true"))));
            }
        }
    }
    let bare = millis(median(&mut bare));
    let through = millis(median(&mut remote));
    println!("bare spawn of true        {bare:>8.3} ms");
    println!("run-remote -- true        {through:>8.3} ms   ÷ bare {:.2} ×", through / bare);
    if !kept.is_empty() {
        let kept = millis(median(&mut kept));
        println!("ssh, kept connection      {kept:>8.3} ms");
        println!("  run-remote ÷ ssh        {:>8.2} ×    (aim ≤ 1)", through / kept);
    }
}

/// A gigabyte by each way, in turns.
fn throughput(runward: &Runward, ssh: Option<&Ssh>) {
    let (mut pipe, mut plain, mut raw, mut remote, mut secure) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        pipe.push(timed(|| drain(&mut source())));
        plain.push(timed(plain_body));
        raw.push(timed(|| runward.stream()));
        remote.push(timed(|| {
            drain(runward.run_remote().args(["--", "head", "-c", &BYTES.to_string(), "/dev/zero"]));
        }));
        if let Some(ssh) = ssh {
            let command = format!("head -c {BYTES} /dev/zero");
            secure.push(timed(|| drain(ssh.command().arg(command))));
        }
    }
    // One gigabyte, divided by the shortest time.
    let speed = |times: &[Duration]| 1.0 / times.iter().min().unwrap().as_secs_f64();
    let (pipe, plain, raw, remote) = (speed(&pipe), speed(&plain), speed(&raw), speed(&remote));
    println!("1 GB, bare pipe           {pipe:>8.2} GB/s");
    println!("1 GB, plain HTTP body     {plain:>8.2} GB/s");
    println!("1 GB, /raw                {raw:>8.2} GB/s");
    println!("  ÷ plain HTTP body       {:>8.2} ×    (aim ≥ 0.65)", raw / plain);
    println!("  ÷ bare pipe             {:>8.2} ×", raw / pipe);
    println!("1 GB, run-remote          {remote:>8.2} GB/s");
    if !secure.is_empty() {
        let secure = speed(&secure);
        println!("1 GB, ssh                 {secure:>8.2} GB/s");
        println!("  /raw ÷ ssh              {:>8.2} ×    (aim ≥ 1.5)", raw / secure);
        println!("  run-remote ÷ ssh        {:>8.2} ×", remote / secure);
    }
}

fn source() -> Command {
    let mut command = Command::new("head");
    command.args(["-c", &BYTES.to_string(), "/dev/zero"]);
    command
}

fn succeed(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
}

/// Reads everything that a command prints.
fn drain(command: &mut Command) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let total = read_all(&mut child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success());
    assert_eq!(total, BYTES);
}

fn read_all(source: &mut impl Read) -> u64 {
    let (mut buffer, mut total) = (vec![0; 256 * 1024], 0);
    loop {
        match source.read(&mut buffer).unwrap() {
            0 => return total,
            read => total += read as u64,
        }
    }
}

/// The same bytes, from the same program, by the shortest way through HTTP: what is read is sent.
fn plain_body() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        let mut child = source().stdout(Stdio::piped()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        write!(socket, "HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n").unwrap();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match output.read(&mut buffer).unwrap() {
                0 => break,
                read => socket.write_all(&buffer[..read]).unwrap(),
            }
        }
        child.wait().unwrap();
    });
    let mut socket = TcpStream::connect(address).unwrap();
    assert!(read_all(&mut socket) > BYTES);
    server.join().unwrap();
}

/// A server, and the ways to it.
struct Runward {
    process: Child,
    url: String,
}

impl Runward {
    fn start(directory: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_runward"));
        command.args(["serve", "--bind", "127.0.0.1:0"]).env("ALLOWED_COMMANDS", "*");
        command.env("XDG_STATE_HOME", directory).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = format!("{}/raw", line.trim_end().strip_prefix("listening on ").unwrap());
        Runward { process, url }
    }

    fn run_remote(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_run-remote"));
        command.env("RUN_REMOTE_SERVER", &self.url);
        command
    }

    /// Everything that a command prints, unpacked and thrown away.
    fn stream(&self) {
        let args = vec!["-c".into(), BYTES.to_string(), "/dev/zero".into()];
        let call = Call { executable: "head".into(), args, ..Call::default() };
        let server = Server::new(self.url.parse().unwrap(), None);
        let mut events = server.run(&call).unwrap();
        let mut total = 0;
        while let Some(event) = events.read_next().unwrap() {
            if let Event::Output { data, .. } = event {
                total += data.len() as u64;
            }
        }
        assert_eq!(total, BYTES);
    }

    fn peak_memory(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1000.0
    }
}

impl Drop for Runward {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An sshd of our own on loopback, and a connection to it that is kept.
struct Ssh {
    daemon: Child,
    config: String,
}

impl Ssh {
    fn start(directory: &Path) -> Option<Self> {
        let sshd = ["/usr/sbin/sshd", "/usr/bin/sshd"].into_iter().find(|path| Path::new(path).exists())?;
        let at = |name: &str| directory.join(name).to_str().unwrap().to_owned();
        for key in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]).status();
            made.ok().filter(std::process::ExitStatus::success)?;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
        let _ = fs::create_dir_all("/run/sshd");
        let server = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PidFile none\nPermitRootLogin prohibit-password\nMaxSessions 100\n",
            at("host"),
            at("user.pub")
        );
        let client = format!(
            "Host box\nHostName 127.0.0.1\nPort {port}\nUser {}\nIdentityFile {}\nIdentitiesOnly yes\n\
             StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\nControlMaster auto\n\
             ControlPath {}\nControlPersist yes\n",
            user.trim(),
            at("user"),
            at("mux")
        );
        fs::write(at("sshd_config"), server).unwrap();
        fs::write(at("ssh_config"), client).unwrap();
        let daemon = Command::new(sshd)
            .args(["-D", "-e", "-f", &at("sshd_config")])
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let ssh = Ssh { daemon, config: at("ssh_config") };
        let is_there = (0..50).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            let tried = ssh.command().arg("true").stdout(Stdio::null()).stderr(Stdio::null()).status();
            tried.is_ok_and(|status| status.success())
        });
        is_there.then_some(ssh)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("ssh");
        command.args(["-F", &self.config, "box"]);
        command
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let end = Command::new("ssh")
            .args(["-F", &self.config, "-O", "exit", "box"])
            .stderr(Stdio::null())
            .status();
        let _ = end;
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}
