//! What to do next about complaints that have a cause of their own in a sandbox, in one sentence each.

use std::path::Path;

use runward_model::{Fence, PrivateDirectory};

use super::{contains, is_private};

/// Words of a complaint in small letters, any of which is enough, and what to do about it.
struct Hint {
    said: &'static [&'static str],
    next: &'static str,
}

const HINTS: &[Hint] = &[
    Hint {
        said: &[
            "sudo: command not found",
            "sudo: not found",
            "doas: command not found",
            "\"no new privileges\" flag is set",
            "sudo: effective user id is not 0",
            "sudo: a password is required",
            "sudo: a terminal is required",
            "sudo: unable to",
            "sudo: pam",
            "/etc/sudo.conf is owned by",
            "su: system error",
            "su: authentication failure",
            "su: cannot set",
            "pkexec must be setuid root",
        ],
        next: "no command gains rights here, so leave sudo or su out; what needs root is for a person to do outside the sandbox",
    },
    Hint {
        said: &[
            "perf_event_open",
            "perf_event_paranoid",
            "no permission to enable",
            "performance monitoring and observability operations is limited",
        ],
        next: "the kernel's counters (perf) are out of reach in the sandbox; measure with time, valgrind or the program's own profiler",
    },
    Hint {
        said: &[
            "ptrace: operation not permitted",
            "ptrace_traceme",
            "ptrace_seize",
            "ptrace_attach",
            "could not attach to process",
            "could not trace the inferior",
        ],
        next: "a command traces only what it starts itself; start the program under the debugger in the same command (strace PROGRAM, gdb --args PROGRAM)",
    },
    Hint {
        said: &[
            "changing ownership of",
            "changing group of",
            "cannot change ownership to",
            "failed to preserve ownership",
        ],
        next: "files cannot be given to another user here; leave the owner out (no chown, tar --no-same-owner, cp without -a or -p)",
    },
    Hint {
        said: &["detected dubious ownership in repository"],
        next: "the repository belongs to another user; trust it for this one command with git -c safe.directory=DIRECTORY",
    },
    Hint {
        said: &["bad owner or permissions on"],
        next: "in the sandbox that file is another user's, so have ssh leave it out: ssh -F /dev/null, or GIT_SSH_COMMAND='ssh -F /dev/null' for git",
    },
    Hint {
        said: &["dpkg frontend lock", "/var/lib/dpkg/lock", "/var/lib/apt/lists", "/var/cache/apt"],
        next: "packages of the system are for a person to install outside the sandbox; put what the project needs below its own directory (a venv, npm without -g, cargo install --root)",
    },
    Hint {
        said: &[
            "cannot connect to the docker daemon",
            "docker.sock",
            "podman.sock",
            "has not been booted with systemd",
            "failed to connect to bus",
            "failed to get d-bus connection",
        ],
        next: "services of the host (Docker, systemd and the like) are out of reach in the sandbox; start what is needed as a command of its own, or have a person do it outside",
    },
    Hint {
        said: &[
            "must be superuser to",
            "only root can",
            "mount system call failed",
            "failed mount system call",
            "read kernel buffer failed",
            "are you root?",
            "unshare failed",
            "sock_raw",
        ],
        next: "this needs rights that no command has here, not even as root; it is for a person to do outside the sandbox",
    },
    Hint {
        said: &["no such process"],
        next: "a command sees no processes but its own call's; list_sessions names what goes on, and kill_session ends it",
    },
];

/// What to do about a complaint in small letters.
pub(super) fn hint(complaint: &str) -> Option<&'static str> {
    let is_said = |hint: &&Hint| hint.said.iter().any(|words| complaint.contains(words));
    HINTS.iter().find(is_said).map(|hint| hint.next)
}

/// What is said of a file that is missing in a directory that each client has for itself.
pub(super) fn missing(fence: &Fence, cwd: &Path, path: &Path) -> Option<String> {
    let is_shared = contains(&fence.shown, path) || contains(&fence.writable, path) || path.starts_with(cwd);
    let private = PrivateDirectory::around(path)
        .filter(|private| is_private(path) && path != Path::new(private.path))?;
    (!is_shared).then(|| {
        format!(
            "there is no {}: {} is this client's own here, without what other clients and programs outside put there, so pass files through the workspace",
            path.display(),
            private.path
        )
    })
}

/// What is said of a file in the workspace that belongs to somebody else, by the numbers of its owner and of the user.
pub(super) fn of_another(path: &Path, (owner, user): (u32, u32)) -> String {
    format!(
        "{} belongs to user {owner}, and commands run as user {user} without rights over the files of others, even as root; have a person give it to user {user}, or work on a copy",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_with_a_cause_in_the_sandbox_say_what_to_do_next() {
        for (complaint, next) in [
            ("bash: line 1: sudo: command not found", "leave sudo or su out"),
            (
                "sudo: The \"no new privileges\" flag is set, which prevents sudo from running as root.",
                "leave sudo or su out",
            ),
            ("No permission to enable task-clock event.", "measure with time"),
            (
                "strace: attach: ptrace(PTRACE_SEIZE, 1): Operation not permitted",
                "start the program under the debugger",
            ),
            ("chown: changing ownership of 'x': Operation not permitted", "leave the owner out"),
            (
                "tar: x: Cannot change ownership to uid 1000, gid 1000: Operation not permitted",
                "--no-same-owner",
            ),
            ("fatal: detected dubious ownership in repository at '/site'", "git -c safe.directory=DIRECTORY"),
            ("Bad owner or permissions on /etc/ssh/ssh_config.d/20-x.conf", "ssh -F /dev/null"),
            (
                "E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?",
                "packages of the system",
            ),
            (
                "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
                "services of the host",
            ),
            (
                "       dmesg(1) may have more information after failed mount system call.",
                "rights that no command has",
            ),
            ("kill: (12345): No such process", "list_sessions"),
        ] {
            let told = hint(&complaint.to_lowercase());
            assert!(told.is_some_and(|told| told.contains(next)), "{complaint}: {told:?}");
        }
        assert_eq!(hint("make: *** [all] error 1"), None);
    }
}
