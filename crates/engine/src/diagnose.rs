//! What a confined command was kept from, as far as that can be known from what it said and what it was confined to.
//!
//! A program names the file or the host that it failed on, and the kernel's word for why. What it names is held against
//! the fence: only what the fence forbids is called its doing.

mod hints;
mod unreachable;

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use runward_model::{Fence, PrivateDirectory, Profile, Tier};
use unreachable::Told;

/// More of them are not named.
const NAMED: usize = 3;

/// What programs print when a file system cannot be written.
const READ_ONLY: [&str; 2] = ["read-only file system", "erofs"];

/// What they print when something is forbidden.
const FORBIDDEN: [&str; 4] = ["permission denied", "operation not permitted", "eacces", "eperm"];

/// What they print when something stands in the way: a mount, or a placeholder.
const IN_THE_WAY: [&str; 4] =
    ["device or resource busy", "file exists", "invalid cross-device link", "is a directory"];

/// What they print when a file is not there.
const MISSING: [&str; 4] = ["no such file or directory", "enoent", "can't open file", "does not exist"];

/// Which of a command's complaints count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Complaints {
    /// All of it: it has failed.
    All,
    /// Only what names something that the fence keeps as it is: it has not failed, and much of what is printed then is
    /// no complaint.
    ProtectedOnly,
}

/// What held a command, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Denied<'a> {
    pub(crate) fence: &'a Fence,
    pub(crate) cwd: &'a Path,
    /// Why its directory is nobody's workspace, where it is none.
    pub(crate) no_workspace: Option<&'a str>,
    /// Who owns a file, where that is another than the user whom commands run as, and who that is.
    pub(crate) owner: fn(&Path) -> Option<(u32, u32)>,
}

/// What is known of complaints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    /// What was refused by the fence, and what would allow it.
    pub(crate) refused: Vec<String>,
    /// What to do next about the rest.
    pub(crate) hints: Vec<String>,
}

impl Diagnosis {
    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.hints.is_empty()
    }

    /// All of it, in words.
    pub(crate) fn in_words(self) -> Option<String> {
        let refused = self.refused.join("; ");
        let refused = (!refused.is_empty()).then(|| format!("the sandbox refused this: {refused}"));
        let told: Vec<String> = refused.into_iter().chain(self.hints).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn add(&mut self, complaint: Complaint) {
        let (list, told) = match complaint {
            Complaint::Refused(told) => (&mut self.refused, told),
            Complaint::Hint(told) => (&mut self.hints, told),
        };
        if !list.contains(&told) && list.len() < NAMED {
            list.push(told);
        }
    }
}

/// What one line turned out to be.
enum Complaint {
    Refused(String),
    Hint(String),
}

/// What of all that a command complains of was the fence's doing, and what to do about it.
pub(crate) fn diagnosed(scene: Denied<'_>, complaints: &str, which: Complaints) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    // A network that is not there is said once, with a host where any line names one.
    let mut network: Option<(String, bool)> = None;
    for line in complaints.lines() {
        match complaint_in(scene, line, which) {
            Some(Line::Network(told, named)) if network.as_ref().is_none_or(|(_, known)| named && !known) => {
                network = Some((told, named));
            }
            Some(Line::Other(complaint)) => diagnosis.add(complaint),
            _ => {}
        }
        if let Some(next) = hints::hint(&line.to_lowercase()).filter(|_| which == Complaints::All) {
            diagnosis.add(Complaint::Hint(next.to_owned()));
        }
    }
    if let Some((told, _)) = network {
        diagnosis.refused.insert(0, told);
    }
    diagnosis
}

/// What is known of a program that failed without a word.
pub(crate) fn silent(fence: &Fence, program: &str, code: i32) -> Diagnosis {
    let told =
        fence.network.is_own().then(|| unreachable::told_by_code(program, code, fence.network)).flatten();
    Diagnosis { refused: told.into_iter().collect(), hints: Vec::new() }
}

/// What a line is about.
enum Line {
    /// An address, and whether it is named.
    Network(String, bool),
    Other(Complaint),
}

fn complaint_in(scene: Denied<'_>, line: &str, which: Complaints) -> Option<Line> {
    let Denied { fence, cwd, .. } = scene;
    let lower = line.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let (read_only, forbidden) = (says(&READ_ONLY), says(&FORBIDDEN));
    let paths: Vec<PathBuf> = candidates(line).into_iter().map(|name| plain(&cwd.join(name))).collect();
    let refused = |told: String| Some(Line::Other(Complaint::Refused(told)));
    let hint = |told: String| Some(Line::Other(Complaint::Hint(told)));
    if read_only || forbidden || says(&IN_THE_WAY) {
        let kept = paths.iter().find_map(|path| kept(fence, path, forbidden || read_only, read_only));
        if kept.is_some() || which == Complaints::ProtectedOnly {
            return kept.and_then(refused);
        }
    }
    if which == Complaints::ProtectedOnly {
        return None;
    }
    match unreachable::told(line, fence.network).filter(|_| fence.network.is_own()) {
        Some(Told::Unreachable(told, named)) => return Some(Line::Network(told, named)),
        Some(Told::NobodyThere(told)) => return hint(told.to_owned()),
        None => {}
    }
    // Of several paths the last is the one that was to be written, as in "cannot copy 'a' to 'b'".
    let shut_out = read_only || (forbidden && fence.tier == Tier::Landlock);
    if let Some(told) = paths.iter().rev().find_map(|path| outside(scene, path)).filter(|_| shut_out) {
        return refused(told);
    }
    if says(&MISSING) {
        return paths.iter().rev().find_map(|path| hints::missing(fence, cwd, path)).and_then(hint);
    }
    paths.iter().rev().filter(|_| forbidden).find_map(|path| of_another(scene, path)).and_then(hint)
}

/// What is said of a file in the workspace that belongs to somebody else.
fn of_another(Denied { fence, owner, .. }: Denied<'_>, path: &Path) -> Option<String> {
    let there = contains(&fence.writable, path).then(|| owner(path)).flatten()?;
    Some(hints::of_another(path, there))
}

/// What is said of a path that is hidden or protected.
fn kept(fence: &Fence, path: &Path, refused: bool, read_only: bool) -> Option<String> {
    let shown = path.display();
    if refused && runward_sandbox::only_roots().iter().any(|closed| path.starts_with(closed)) {
        return Some(format!("{shown} may not be read: only root can, and commands are kept from that"));
    }
    if refused && contains(&fence.hidden, path) {
        return Some(format!("{shown} may not be read; to allow it, take it out of sandbox.deny_read"));
    }
    let shut = || if read_only { shut(fence, path) } else { None };
    if let Some(said) = read_only.then(|| cached(fence, path)).flatten() {
        return Some(said);
    }
    let first = covering(&fence.protected, path).or_else(shut)?;
    // What leads to several of them is free once none of them is protected.
    let lead = first
        .parent()
        .filter(|lead| lead.starts_with(path) || path.starts_with(lead) && !path.starts_with(first));
    let behind = places(&fence.protected).filter(|place| lead.is_some() && place.parent() == lead);
    let mut names: Vec<String> = behind.map(|place| place.display().to_string()).collect();
    if names.is_empty() {
        names.push(first.display().to_string());
    }
    let names = names.join(" and ");
    Some(format!("{shown} is protected; to allow it, name {names} in sandbox.writable_roots"))
}

/// What is said of a path in a cache that could not be written.
fn cached(fence: &Fence, path: &Path) -> Option<String> {
    let caches = fence.caches.as_ref()?;
    let shown = path.display();
    let around = |paths| places(paths).find(|place| path.starts_with(place));
    if let Some(kept) = around(&caches.kept).or_else(|| around(&caches.guarded)) {
        let kept = kept.display();
        return Some(format!(
            "{shown} is protected: {kept} in a cache stays as it is; a person has to change it"
        ));
    }
    around(&caches.places).map(|cache| {
        let cache = cache.display();
        format!("{shown} may not be written: this host mounts no overlay over the cache {cache} (`runward doctor` tells); to have it written for real, add {cache} to sandbox.writable_roots")
    })
}

/// The protected path that keeps a whole missing directory, this one in it, from being made.
fn shut<'a>(fence: &'a Fence, path: &Path) -> Option<&'a Path> {
    let leads = |place: &&Path| {
        let lead = place.parent().filter(|lead| !places(&fence.writable).any(|root| root == *lead));
        lead.is_some_and(|lead| path.starts_with(lead))
    };
    places(&fence.protected).find(leads)
}

/// What is said of one that may not be written.
fn outside(Denied { fence, cwd, no_workspace, .. }: Denied<'_>, path: &Path) -> Option<String> {
    let own = is_private(path) && !contains(&fence.shown, path) && !path.starts_with(cwd);
    if contains(&fence.writable, path) || own {
        return None;
    }
    let (shown, directory) = (path.display(), path.parent().unwrap_or(path).display());
    Some(if fence.profile == Profile::ReadOnly {
        format!(
            "{shown} may not be written, since the profile is read-only (by sandbox.profile, sandbox.doors or a rule)"
        )
    } else if let Some(why) = no_workspace.filter(|_| path.starts_with(cwd)) {
        format!("{shown} may not be written, since {} is no workspace: {why}", cwd.display())
    } else {
        format!("{shown} may not be written; to allow it, add {directory} to sandbox.writable_roots")
    })
}

fn is_private(path: &Path) -> bool {
    PrivateDirectory::writable().any(|private| path.starts_with(private.path))
}

fn contains(paths: &[CString], path: &Path) -> bool {
    covering(paths, path).is_some()
}

fn covering<'a>(paths: &'a [CString], path: &Path) -> Option<&'a Path> {
    // A missing directory on the way to a protected path is kept missing as well.
    places(paths).find(|place| path.starts_with(place) || (place.parent() == Some(path)))
}

fn places(paths: &[CString]) -> impl Iterator<Item = &Path> {
    paths.iter().map(|place| Path::new(OsStr::from_bytes(place.to_bytes())))
}

/// What in a complaint may name a file: what stands in quotes, what stands right before the kernel's word for why, and
/// every word that looks like a path.
fn candidates(line: &str) -> Vec<&str> {
    let mut found = quoted(line);
    let before = line.split(": ").collect::<Vec<_>>();
    let subject = before.iter().rev().nth(1).filter(|name| !name.contains(char::is_whitespace));
    found.extend(subject.map(|name| trimmed(name)));
    let words = line.split(|letter: char| letter.is_whitespace() || ":,()".contains(letter)).map(trimmed);
    found.extend(words.filter(|name| name.contains('/') || name.starts_with('.')));
    found.retain(|name| !name.is_empty());
    found
}

fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for pair in ["''", "\"\"", "‘’", "``", "`'"] {
        let mut marks = pair.chars();
        let (Some(open), Some(close)) = (marks.next(), marks.next()) else { continue };
        let mut rest = line;
        while let Some((_, after)) = rest.split_once(open)
            && let Some((inside, behind)) = after.split_once(close)
        {
            found.push(inside);
            rest = behind;
        }
    }
    found
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
    use runward_model::Network;

    use super::*;

    fn fence() -> Fence {
        let text = |path: &str| CString::new(path).unwrap();
        let mut fence = Fence::new(Profile::WorkspaceWrite, Tier::Full, Network::Off, text("/site"));
        fence.writable = vec![text("/site")];
        fence.protected = vec![text("/site/.git/config"), text("/site/.git/hooks"), text("/site/.vscode")];
        fence.hidden = vec![text("/home/ada/.ssh")];
        fence
    }

    fn at_site(fence: &Fence) -> Denied<'_> {
        Denied { fence, cwd: Path::new("/site"), no_workspace: None, owner: |_| None }
    }

    fn denied(scene: Denied<'_>, complaints: &str, which: Complaints) -> Vec<String> {
        let Diagnosis { refused, hints } = diagnosed(scene, complaints, which);
        [refused, hints].concat()
    }

    fn told(complaint: &str) -> String {
        denied(at_site(&fence()), complaint, Complaints::All).join("; ")
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
    fn the_file_that_was_to_be_written_is_named() {
        let copied = told("fatal: cannot copy '/usr/share/x' to '/site/.vscode/x': Read-only file system");
        assert!(copied.contains("/site/.vscode/x is protected"), "{copied}");
        let moved = told("mv: cannot move 'a' to '/etc/b': Read-only file system");
        assert!(moved.starts_with("/etc/b may not be written"), "{moved}");
        let read_only =
            Fence { profile: Profile::ReadOnly, writable: Vec::new(), protected: Vec::new(), ..fence() };
        for complaint in
            ["touch: cannot touch 'a': Read-only file system", "bash: line 1: a: Read-only file system"]
        {
            let told = denied(at_site(&read_only), complaint, Complaints::All).join("; ");
            assert!(told.starts_with("/site/a may not be written, since the profile is read-only"), "{told}");
        }
        let nobodys = Fence { writable: Vec::new(), protected: Vec::new(), ..fence() };
        let why = Some("it belongs to the system; to allow it, ask");
        let nobodys = Denied { fence: &nobodys, cwd: Path::new("/etc"), no_workspace: why, owner: |_| None };
        let told = denied(nobodys, "touch: cannot touch 'a': Read-only file system", Complaints::All);
        assert!(
            told[0].ends_with("/etc is no workspace: it belongs to the system; to allow it, ask"),
            "{told:?}"
        );
    }

    #[test]
    fn a_command_that_did_not_fail_is_told_of_what_is_protected_alone() {
        let ask = |line: &str| denied(at_site(&fence()), line, Complaints::ProtectedOnly).join("; ");
        let told = ask("error: could not write config file .git/hooks/x: Device or resource busy");
        assert!(told.contains("is protected"), "{told}");
        assert_eq!(ask("touch: cannot touch '/etc/x': Read-only file system"), "");
        assert_eq!(ask("curl: (6) Could not resolve host: example.com"), "");
    }

    #[test]
    fn a_loopback_of_its_own_is_explained() {
        let told =
            told("curl: (7) Failed to connect to 127.0.0.1 port 8765 after 0 ms: Couldn't connect to server");
        assert!(told.contains("a loopback of its own"), "{told}");
        assert_eq!(super::tests::told("connect to 10.0.0.1: Connection refused"), "");
    }

    #[test]
    fn what_is_protected_or_hidden_is_told_apart() {
        let hook = told("bash: .git/hooks/pre-commit: Read-only file system");
        assert!(hook.contains("/site/.git/hooks/pre-commit is protected"), "{hook}");
        let init = told("mkdir: cannot create directory ‘.git’: File exists");
        assert!(
            init.ends_with("name /site/.git/config and /site/.git/hooks in sandbox.writable_roots"),
            "{init}"
        );
        let copied =
            told("fatal: cannot copy '/usr/share/x' to '/site/.git/description': Read-only file system");
        assert!(
            copied.starts_with("/site/.git/description is protected")
                && copied.ends_with("name /site/.git/config and /site/.git/hooks in sandbox.writable_roots"),
            "{copied}"
        );
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
        assert!(denied(at_site(&on), "Could not resolve host: example.com", Complaints::All).is_empty());
    }

    #[test]
    fn what_the_fence_allows_is_not_its_doing() {
        for complaint in [
            "touch: cannot touch '/site/x': Permission denied",
            "cat: /etc/hostname: Permission denied",
            "mkdir: cannot create directory ‘build’: File exists",
            "cat: /etc/nowhere: No such file or directory",
            "rm: cannot remove '/tmp/x': Operation not permitted",
        ] {
            assert_eq!(told(complaint), "", "{complaint}");
        }
    }
}
