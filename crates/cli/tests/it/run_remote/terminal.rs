//! A terminal here, a terminal there.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};

use runward_testkit::eventually;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::program::RunRemote;
use crate::raw::server::Raw;

/// A terminal with the program on it.
struct Screen {
    near: File,
    far: File,
    child: Child,
    seen: String,
}

impl Screen {
    fn start(raw: &Raw, args: &[&str]) -> Self {
        let near: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&near).unwrap();
        unlockpt(&near).unwrap();
        let name = ptsname(&near, Vec::new()).unwrap().into_string().unwrap();
        let far = File::options().read(true).write(true).open(name).unwrap();
        let screen = |far: &File| Stdio::from(far.try_clone().unwrap());
        let mut command = RunRemote::on(raw, args).into_command();
        resize(&far, 33, 101);
        let child = command.stdin(screen(&far)).stdout(screen(&far)).stderr(screen(&far)).spawn().unwrap();
        Screen { near: near.into(), far, child, seen: String::new() }
    }

    fn wait_for(&mut self, wanted: &str) {
        let mut block = [0; 4096];
        while !self.seen.contains(wanted) {
            let read = self.near.read(&mut block).unwrap();
            self.seen += &String::from_utf8_lossy(&block[..read]);
        }
    }

    fn code(&mut self) -> Option<i32> {
        let mut status = None;
        eventually("run-remote ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code()
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.far).unwrap().local_modes.contains(LocalModes::ICANON)
    }
}

fn resize(terminal: &File, rows: u16, cols: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

#[test]
fn the_command_runs_on_a_terminal_of_the_same_size_and_keys_go_through() {
    let raw = Raw::allowing("*");
    let script = "test -t 0 && test -t 1 && stty size; echo ready; read line; echo \"got $line\"; exec cat";
    let mut screen = Screen::start(&raw, &["-t", "--", "sh", "-c", script]);
    screen.wait_for("33 101\r\nready\r\n");
    eventually("keys are passed on as they are", || screen.is_raw());
    screen.near.write_all(b"hello\r").unwrap();
    screen.wait_for("got hello\r\n");
    screen.near.write_all(b"\x03").unwrap();
    assert_eq!(screen.code(), Some(130));
    assert!(!screen.is_raw(), "the terminal is what it was before");
}

#[test]
fn a_window_that_changes_changes_there_too() {
    let raw = Raw::allowing("*");
    let script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done";
    let mut screen = Screen::start(&raw, &["-t", "--", "sh", "-c", script]);
    screen.wait_for("ready\r\n");
    resize(&screen.far, 11, 44);
    // Nobody is in the foreground of this terminal, so the kernel tells nobody.
    let pid = rustix::process::Pid::from_child(&screen.child);
    rustix::process::kill_process(pid, rustix::process::Signal::WINCH).unwrap();
    screen.wait_for("11 44\r\n");
    assert_eq!(screen.code(), Some(0));
}

#[test]
fn a_terminal_is_no_input_unless_one_says_so() {
    let raw = Raw::allowing("*");
    let mut silent = Screen::start(&raw, &["--", "cat"]);
    assert_eq!(silent.code(), Some(0), "there is nothing to read");
    let mut asked = Screen::start(&raw, &["-i", "--", "head", "-n1"]);
    asked.near.write_all(b"typed\n").unwrap();
    asked.wait_for("typed\r\ntyped\r\n");
    assert_eq!(asked.code(), Some(0));
}
