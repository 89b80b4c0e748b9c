//! What a confined command was kept from, as far as that can be known from what it said and what it was confined to.
//!
//! A program names the file or the host that it failed on, and the kernel's word for why. What it names is held against
//! the fence: only what the fence forbids is called its doing.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::{Fence, Network, Tier};

/// More of them are not named.
const NAMED: usize = 3;

/// What programs print when a file system cannot be written.
const READ_ONLY: [&str; 2] = ["read-only file system", "erofs"];

/// What they print when something is forbidden.
const FORBIDDEN: [&str; 4] = ["permission denied", "operation not permitted", "eacces", "eperm"];

/// What they print when something stands in the way: a mount, or a placeholder.
const IN_THE_WAY: [&str; 4] =
    ["device or resource busy", "file exists", "invalid cross-device link", "is a directory"];

/// What they print when there is no way to an address.
const UNREACHABLE: [&str; 9] = [
    "network is unreachable",
    "could not resolve",
    "couldn't resolve",
    "temporary failure in name resolution",
    "name or service not known",
    "failure in name resolution",
    "enetunreach",
    "eai_again",
    "dns error",
];

/// Directories of a confined command's own.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

impl Fence {
    /// What of all that a failed command complains of was this fence's doing.
    pub fn denied(&self, cwd: &Path, complaints: &str) -> Vec<String> {
        let mut named: Vec<String> = Vec::new();
        for line in complaints.lines() {
            for denial in self.denials(cwd, line) {
                if !named.contains(&denial) && named.len() < NAMED {
                    named.push(denial);
                }
            }
        }
        named
    }

    fn denials(&self, cwd: &Path, line: &str) -> Vec<String> {
        let lower = line.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        if self.network.is_own() && says(&UNREACHABLE) {
            return vec![unreachable(line, self.network)];
        }
        let (read_only, forbidden) = (says(&READ_ONLY), says(&FORBIDDEN));
        if !read_only && !forbidden && !says(&IN_THE_WAY) {
            return Vec::new();
        }
        let outside = read_only || (forbidden && self.tier == Tier::Landlock);
        let paths = candidates(line).map(|name| plain(&cwd.join(name)));
        paths.filter_map(|path| self.denial(&path, outside, forbidden || read_only)).take(1).collect()
    }

    fn denial(&self, path: &Path, outside: bool, refused: bool) -> Option<String> {
        let shown = path.display();
        if refused && contains(&self.hidden, path) {
            return Some(format!("{shown} may not be read; to allow it, take it out of sandbox.deny_read"));
        }
        if let Some(protected) = covering(&self.protected, path) {
            let protected = protected.display();
            return Some(format!(
                "{shown} is protected; to allow it, name {protected} in sandbox.writable_roots"
            ));
        }
        let own = is_private(path) && !contains(&self.shown, path);
        if !outside || contains(&self.writable, path) || own {
            return None;
        }
        let directory = path.parent().unwrap_or(path).display();
        Some(format!(
            "{shown} may not be written; to allow it, add {directory} to sandbox.writable_roots, or run the command there"
        ))
    }
}

fn unreachable(line: &str, network: Network) -> String {
    let widen = match network {
        Network::Listed => {
            "there is no network but the proxy that http_proxy and all_proxy name, which the program did not use"
        }
        _ => "there is no network; to allow it, set sandbox.network to \"on\", or to a list of hosts",
    };
    match line.split_whitespace().map(trimmed).rev().find(|word| looks_like_a_host(word)) {
        Some(host) => format!("{host} cannot be reached, {widen}"),
        None => widen.to_owned(),
    }
}

fn looks_like_a_host(word: &str) -> bool {
    let host = word.split_once("://").map_or(word, |(_, rest)| rest).split('/').next().unwrap_or_default();
    let plain = host.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-:[]_".contains(letter));
    plain && host.contains('.') && !host.ends_with('.') && host.len() > 3 && !host.starts_with('-')
}

fn is_private(path: &Path) -> bool {
    PRIVATE.iter().any(|private| path.starts_with(private))
}

fn contains(paths: &[CString], path: &Path) -> bool {
    covering(paths, path).is_some()
}

fn covering<'a>(paths: &'a [CString], path: &Path) -> Option<&'a Path> {
    let places = paths.iter().map(|place| Path::new(OsStr::from_bytes(place.to_bytes())));
    // A missing directory on the way to a protected path is kept missing as well.
    places.into_iter().find(|place| path.starts_with(place) || (place.parent() == Some(path)))
}

/// What in a complaint may name a file: what stands in quotes first, then every word.
fn candidates(line: &str) -> impl Iterator<Item = &str> {
    let quoted = ["''", "\"\"", "‘’", "``", "`'"].into_iter().filter_map(|pair| {
        let mut marks = pair.chars();
        let (open, close) = (marks.next()?, marks.next()?);
        let (_, rest) = line.split_once(open)?;
        Some(rest.split_once(close)?.0)
    });
    let words = line.split(|letter: char| letter.is_whitespace() || ":,()".contains(letter)).map(trimmed);
    quoted.chain(words).filter(|name| !name.is_empty() && (name.contains('/') || name.starts_with('.')))
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|letter: char| "'\"‘’`,;:()[]<>".contains(letter))
}

/// The path without `.` and `..`, which nothing here looks up.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn fence() -> Fence {
        let text = |path: &str| CString::new(path).unwrap();
        Fence {
            tier: Tier::Full,
            network: Network::Off,
            writable: vec![text("/site")],
            protected: vec![text("/site/.git/hooks"), text("/site/.vscode")],
            hidden: vec![text("/home/ada/.ssh")],
            shown: Vec::new(),
            temporary: None,
            temporary_size: 1 << 30,
            keep: Duration::ZERO,
            directory: text("/site"),
            placeholders: Vec::new(),
        }
    }

    fn told(complaint: &str) -> String {
        fence().denied(Path::new("/site"), complaint).join("; ")
    }

    #[test]
    fn a_file_out_there_is_named_with_what_would_allow_it() {
        for complaint in [
            "touch: cannot touch '/etc/x': Read-only file system",
            "bash: line 1: /etc/x: Read-only file system",
            "OSError: [Errno 30] Read-only file system: '/etc/x'",
            "Error: EROFS: read-only file system, open '/etc/x'",
            "cp: cannot create regular file '../etc/x': Read-only file system",
        ] {
            let told = told(complaint);
            assert!(
                told.contains("/etc/x may not be written; to allow it, add /etc to sandbox.writable_roots"),
                "{complaint}: {told}"
            );
        }
    }

    #[test]
    fn what_is_protected_or_hidden_is_told_apart() {
        let hook = told("bash: .git/hooks/pre-commit: Read-only file system");
        assert!(hook.contains("/site/.git/hooks/pre-commit is protected"), "{hook}");
        let missing = told("mkdir: cannot create directory ‘.vscode’: File exists");
        assert!(missing.contains("/site/.vscode is protected"), "{missing}");
        let key = told("cat: /home/ada/.ssh/id: Permission denied");
        assert!(key.contains("sandbox.deny_read"), "{key}");
    }

    #[test]
    fn an_address_is_named_where_the_command_names_it() {
        let told = told("curl: (6) Could not resolve host: example.com");
        assert!(told.contains("example.com cannot be reached") && told.contains("sandbox.network"), "{told}");
        let on = Fence { network: Network::On, ..fence() };
        assert!(on.denied(Path::new("/site"), "Could not resolve host: example.com").is_empty());
    }

    #[test]
    fn what_the_fence_allows_is_not_its_doing() {
        for complaint in [
            "touch: cannot touch '/site/x': Permission denied",
            "cat: /etc/shadow: Permission denied",
            "mkdir: cannot create directory ‘build’: File exists",
            "cat: /etc/nowhere: No such file or directory",
            "rm: cannot remove '/tmp/x': Operation not permitted",
        ] {
            assert_eq!(told(complaint), "", "{complaint}");
        }
    }
}
