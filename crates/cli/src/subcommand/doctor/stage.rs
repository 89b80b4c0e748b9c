//! A place to try things in, and what must still be so afterwards.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::thread;

use runward_model::{Profile, Promise};
use runward_sandbox::trial::{Stage, Tried};
use runward_sandbox::{CacheSettings, Homes, Layers};
use rustix::fs::{CWD, FileType, Mode, OFlags, makedev, mknodat};

/// Read by whoever sees temporary files of others.
const MARK: &str = "/tmp/runward-trial-mark";

/// What stands outside, and what it says.
const OUTSIDE: [(&str, &str); 2] = [("other", "other\n"), ("victim", "victim\n")];

/// What is in the user's cache.
const CACHED: &str = "cached\n";

/// What is in the workspace before anything is tried there.
const WORK: [(&str, &str); 2] = [(".git/config", "[core]\n"), (".git/hooks/sample", "")];

/// A directory with a workspace and what is around it, and somebody who listens. Gone when dropped.
pub(super) struct Set {
    stage: Stage,
    _listeners: (TcpListener, UnixListener, UnixListener),
}

impl Set {
    /// Sets everything up where this user may write, if possible not among temporary files: those are private.
    pub(super) fn up() -> io::Result<Self> {
        let base = base()?;
        for name in ["work/.git/hooks", "outside", "cache", "hidden"] {
            fs::create_dir_all(base.join(name))?;
        }
        for (name, text) in OUTSIDE {
            fs::write(base.join("outside").join(name), text)?;
        }
        for (name, text) in WORK {
            fs::write(base.join("work").join(name), text)?;
        }
        fs::write(base.join("cache/victim"), CACHED)?;
        fs::write(base.join("hidden/key"), "secret\n")?;
        // Only root can.
        for place in ["work/device", "outside/device"] {
            let (kind, mode) = (FileType::CharacterDevice, Mode::from_raw_mode(0o666));
            let _ = mknodat(CWD, base.join(place), kind, mode, makedev(1, 5));
        }
        let _ = fs::write(MARK, "");
        let streams = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = streams.local_addr()?.port();
        answer_datagrams(port)?;
        let abstract_name = format!("runward-trial-{}", std::process::id());
        let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name)?)?;
        let named = UnixListener::bind(base.join("outside/socket"))?;
        let victim = i32::try_from(std::process::id()).unwrap_or(1);
        let stage = Stage { base, victim, port, abstract_name };
        Ok(Set { stage, _listeners: (streams, hidden, named) })
    }

    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Where commands run.
    pub(super) fn work(&self) -> PathBuf {
        self.stage.base.join("work")
    }

    /// A cache of the user's, with a place in it where programs are found by name.
    pub(super) fn caches(&self) -> CacheSettings {
        let (cache, programs) = (self.stage.cache(""), self.stage.cache("bin"));
        CacheSettings::new(&[cache], &Homes::default(), &[programs], Some(self.stage.layers()))
    }

    /// What they may not read.
    pub(super) fn hidden(&self) -> PathBuf {
        self.stage.base.join("hidden")
    }

    /// The workspace, open.
    pub(super) fn handle(&self) -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(self.work(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// What is not as it was, whatever the acts say of themselves.
    pub(super) fn changes(&self) -> Vec<(Promise, String)> {
        let mut changes = Vec::new();
        for (name, text) in OUTSIDE {
            if fs::read_to_string(self.stage.base.join("outside").join(name)).ok().as_deref() != Some(text) {
                changes.push((Promise::Writes, format!("outside/{name} was changed")));
            }
        }
        for name in names(&self.stage.base.join("outside")) {
            if !["socket", "device"].contains(&name.as_str())
                && !OUTSIDE.iter().any(|(known, _)| *known == name)
            {
                changes.push((Promise::Writes, format!("outside/{name} was made")));
            }
        }
        let cached = fs::read_to_string(self.stage.cache("victim")).ok();
        if cached.as_deref() != Some(CACHED) || names(&self.stage.cache("")) != ["victim"] {
            changes.push((Promise::Writes, "the user's cache was changed".to_owned()));
        }
        for (name, text) in WORK {
            if fs::read_to_string(self.work().join(name)).ok().as_deref() != Some(text) {
                changes.push((Promise::Protected, format!("{name} was changed")));
            }
        }
        changes
    }

    /// What is left in the workspace that nobody made.
    pub(super) fn strays(&self) -> Vec<String> {
        let names = names(&self.work());
        let stray =
            |name: &String| [".vscode", ".mcp.json", ".claude", ".codex", ".idea"].contains(&name.as_str());
        names.into_iter().filter(stray).map(|name| format!("{name} was left behind")).collect()
    }

    /// What must work and did not.
    pub(super) fn unusable(&self, profile: Profile, tried: &[Tried]) -> Vec<String> {
        let mut broken = Vec::new();
        if profile == Profile::WorkspaceWrite && !self.work().join("mine").is_file() {
            broken.push("the workspace cannot be written".to_owned());
        }
        if tried.len() < runward_sandbox::trial::count() {
            broken.push(format!(
                "only {} of {} acts were tried",
                tried.len(),
                runward_sandbox::trial::count()
            ));
        }
        broken
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // The kernel has made directories in them that an ordinary user cannot look into.
        let _ = Layers::below(self.stage.layers()).discard();
        let _ = fs::remove_dir_all(&self.stage.base);
        let _ = fs::remove_file(MARK);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A new directory in the home, the working directory, or among temporary files.
fn base() -> io::Result<PathBuf> {
    let places = [std::env::home_dir(), std::env::current_dir().ok(), Some(std::env::temp_dir())];
    let name = format!(".doctor-of-runward-{}", std::process::id());
    let mut last = io::ErrorKind::NotFound.into();
    for place in places.into_iter().flatten() {
        let base = place.join(&name);
        match fs::create_dir(&base) {
            Ok(()) => return fs::canonicalize(base),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Answers every datagram, so that whoever sends one knows that it arrived. Ends with the process.
fn answer_datagrams(port: u16) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port))?;
    thread::Builder::new().name("datagrams".into()).spawn(move || {
        let mut chunk = [0; 64];
        while let Ok((read, from)) = socket.recv_from(&mut chunk) {
            let _ = socket.send_to(chunk.get(..read).unwrap_or_default(), from);
        }
    })?;
    Ok(())
}
