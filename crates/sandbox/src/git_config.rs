//! What of a git configuration cannot make git run anything.
//!
//! The reader takes plain lines only: a section, a key with a value, a comment, each on a line of its own. A text that
//! is anything else is not taken apart at all, so nothing is published that git might read otherwise than it was judged.
//! What is not known to be harmless counts as harmful.

use std::path::{Component, Path, PathBuf};

/// Larger files are not what they are called.
const LARGEST: usize = 1 << 20;

/// Keys of sections without a name behind them, by section; `*` stands for every key.
const PLAIN: [(&str, &[&str]); 36] = [
    ("advice", &["*"]),
    ("author", &["email", "name"]),
    ("blame", &["coloring", "date", "showemail", "showroot"]),
    ("branch", &["autosetupmerge", "autosetuprebase", "sort"]),
    ("checkout", &["defaultremote", "guess", "workers"]),
    ("clone", &["defaultremotename", "rejectshallow"]),
    ("color", &["*"]),
    ("column", &["*"]),
    ("commit", &["cleanup", "gpgsign", "status", "verbose"]),
    ("committer", &["email", "name"]),
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "commitgraph",
            "compression",
            "createobject",
            "eol",
            "filemode",
            "fscache",
            "hidedotfiles",
            "ignorecase",
            "ignorestat",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "maxtreedepth",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "splitindex",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
        ],
    ),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "colormovedws",
            "context",
            "ignoresubmodules",
            "indentheuristic",
            "interhunkcontext",
            "mnemonicprefix",
            "noprefix",
            "renamelimit",
            "renames",
            "submodule",
            "wserrorhighlight",
        ],
    ),
    (
        "extensions",
        &[
            "compatobjectformat",
            "noop",
            "objectformat",
            "partialclone",
            "preciousobjects",
            "refstorage",
            "relativeworktrees",
            "worktreeconfig",
        ],
    ),
    ("feature", &["experimental", "manyfiles"]),
    ("fetch", &["all", "parallel", "prune", "prunetags", "recursesubmodules", "writecommitgraph"]),
    (
        "gc",
        &[
            "aggressivedepth",
            "aggressivewindow",
            "auto",
            "autodetach",
            "autopacklimit",
            "cruftpacks",
            "packrefs",
            "pruneexpire",
            "reflogexpire",
            "reflogexpireunreachable",
            "worktreepruneexpire",
            "writecommitgraph",
        ],
    ),
    ("grep", &["column", "linenumber", "patterntype", "extendedregexp", "threads"]),
    ("help", &["autocorrect"]),
    ("http", &["lowspeedlimit", "lowspeedtime", "postbuffer", "version"]),
    ("index", &["sparse", "skiphash", "threads", "version"]),
    ("init", &["defaultbranch", "defaultobjectformat", "defaultrefformat"]),
    ("lfs", &["locksverify", "repositoryformatversion"]),
    ("log", &["abbrevcommit", "date", "decorate", "follow", "showroot"]),
    ("maintenance", &["auto", "strategy"]),
    ("merge", &["autostash", "conflictstyle", "ff", "log", "renamelimit", "renames", "stat", "suppressdest"]),
    ("pack", &["allowpackreuse", "depth", "threads", "window", "windowmemory", "writebitmaps"]),
    ("pull", &["ff", "octopus", "rebase", "twohead"]),
    ("push", &["autosetupremote", "default", "followtags", "recursesubmodules", "useforceifincludes"]),
    (
        "rebase",
        &[
            "abbreviatecommands",
            "autosquash",
            "autostash",
            "missingcommitscheck",
            "rebasemerges",
            "stat",
            "updaterefs",
        ],
    ),
    ("remote", &["pushdefault"]),
    ("rerere", &["autoupdate", "enabled"]),
    ("stash", &["showincludeuntracked", "showpatch", "showstat"]),
    (
        "status",
        &[
            "branch",
            "displaycommentprefix",
            "relativepaths",
            "renames",
            "short",
            "showstash",
            "showuntrackedfiles",
            "submodulesummary",
        ],
    ),
    ("submodule", &["active", "fetchjobs", "propagatebranches", "recurse"]),
    ("tag", &["gpgsign", "sort"]),
    ("user", &["email", "name", "useconfigonly"]),
];

/// The same of sections with a name behind them.
const NAMED: [(&str, &[&str]); 6] = [
    ("branch", &["description", "merge", "pushremote", "rebase", "remote", "vscode-merge-base"]),
    ("color", &["*"]),
    ("lfs", &["access", "locksverify"]),
    ("maintenance", &["enabled", "schedule"]),
    (
        "remote",
        &[
            "fetch",
            "followremotehead",
            "mirror",
            "partialclonefilter",
            "promisor",
            "prune",
            "prunetags",
            "push",
            "pushurl",
            "skipdefaultupdate",
            "skipfetchall",
            "tagopt",
            "url",
        ],
    ),
    ("submodule", &["active", "branch", "fetchrecursesubmodules", "ignore", "shallow", "update", "url"]),
];

/// Commands that an alias may stand for: none of them starts anything that is not configured elsewhere.
const ALIASED: [&str; 14] = [
    "add", "blame", "branch", "checkout", "commit", "describe", "diff", "log", "restore", "shortlog", "show",
    "stash", "status", "switch",
];

/// What a configuration consists of.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// The text without what is not known to be harmless, where it could be taken apart.
    pub(crate) harmless: Option<Vec<u8>>,
    /// The keys that are held back; empty when all of it is harmless.
    pub(crate) held: Vec<String>,
}

/// Judges the configuration of the repository whose own directory is `git`; its working trees lie below `roots`.
///
/// What stands in `known`, the configuration that a person has there, is theirs: it stays, whatever it does.
pub(crate) fn judge(text: &[u8], known: &[u8], git: &Path, roots: &[&Path]) -> Judged {
    let unreadable =
        || Judged { harmless: None, held: vec!["a configuration that is not written plainly".into()] };
    let Some(text) = std::str::from_utf8(text).ok().filter(|text| text.len() <= LARGEST) else {
        return unreadable();
    };
    let (mut section, mut harmless, mut held) = (Section::default(), String::new(), Vec::new());
    let theirs = entries(&String::from_utf8_lossy(known));
    for line in text.split_inclusive('\n') {
        match read(line) {
            Some(Line::Nothing) => harmless.push_str(line),
            Some(Line::Section(next)) => {
                section = next;
                harmless.push_str(line);
            }
            Some(Line::Entry { key, value }) if section.is_harmless(&key, value, git, roots) => {
                harmless.push_str(line);
            }
            Some(Line::Entry { key, value }) => {
                let full = section.full(&key);
                if theirs.contains(&(full.clone(), value.map(str::to_owned))) {
                    harmless.push_str(line);
                } else {
                    held.push(full);
                }
            }
            None => return unreadable(),
        }
    }
    Judged { harmless: Some(harmless.into_bytes()), held }
}

/// Every entry of a text that can be told: its full key and its value.
fn entries(text: &str) -> Vec<(String, Option<String>)> {
    let (mut section, mut found) = (Section::default(), Vec::new());
    for line in text.lines() {
        match read(line) {
            Some(Line::Section(next)) => section = next,
            Some(Line::Entry { key, value }) => found.push((section.full(&key), value.map(str::to_owned))),
            _ => {}
        }
    }
    found
}

/// The entries of a text that are not in another, each behind its section; nothing of a text that is not plain.
pub(crate) fn additions(text: &[u8], known: &[u8]) -> Vec<u8> {
    let entries = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text).into_owned();
        let (mut header, mut found) = (String::new(), Vec::new());
        for line in text.lines() {
            match read(line) {
                Some(Line::Section(_)) => line.clone_into(&mut header),
                Some(Line::Entry { .. }) => found.push(format!("{header}\n{line}\n")),
                _ => {}
            }
        }
        found
    };
    let known = entries(known);
    entries(text).into_iter().filter(|entry| !known.contains(entry)).collect::<String>().into_bytes()
}

/// What a text may give as the value of a key, whatever section it stands in and however it is written.
pub(crate) fn mentioned<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = PathBuf> + 'a {
    let value = move |line: &'a str| {
        let (before, after) = line.split_once('=')?;
        let before = before.rsplit(']').next()?.trim();
        let after = after.split([';', '#']).next()?.trim().trim_matches('"');
        (before.eq_ignore_ascii_case(key) && !after.is_empty()).then(|| PathBuf::from(after))
    };
    text.lines().filter_map(value)
}

enum Line<'a> {
    Nothing,
    Section(Section),
    Entry { key: String, value: Option<&'a str> },
}

#[derive(Default)]
struct Section {
    kind: String,
    name: Option<String>,
}

/// What a line is; `None` when it is not plain.
fn read(line: &str) -> Option<Line<'_>> {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
    if line.chars().any(|c| c.is_control() && c != '\t') {
        return None;
    }
    if line.is_empty() || line.starts_with(['#', ';']) {
        return Some(Line::Nothing);
    }
    if let Some(inner) = line.strip_prefix('[') {
        return section(inner.strip_suffix(']')?).map(Line::Section);
    }
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key.trim_matches([' ', '\t']), Some(plain(value.trim_matches([' ', '\t']))?)),
        None => (line, None),
    };
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_key.then(|| Line::Entry { key: key.to_ascii_lowercase(), value })
}

fn section(inner: &str) -> Option<Section> {
    let (kind, name) = match inner.split_once(' ') {
        Some((kind, name)) => {
            (kind, Some(name.trim_start_matches(' ').strip_prefix('"')?.strip_suffix('"')?))
        }
        None => (inner, None),
    };
    let is_kind = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let is_name = name.is_none_or(|name| !name.contains(['"', '\\']));
    (is_kind && is_name).then(|| Section { kind: kind.to_ascii_lowercase(), name: name.map(Into::into) })
}

/// A value without anything that means more than itself.
fn plain(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    (!inner.contains(['"', '\\']) && (inner.len() < value.len() || !value.contains(['#', ';'])))
        .then_some(inner)
}

impl Section {
    fn full(&self, key: &str) -> String {
        match &self.name {
            Some(name) => format!("{}.{name}.{key}", self.kind),
            None => format!("{}.{key}", self.kind),
        }
    }

    fn is_harmless(&self, key: &str, value: Option<&str>, git: &Path, roots: &[&Path]) -> bool {
        let text = value.unwrap_or_default();
        match (self.kind.as_str(), &self.name, key) {
            ("core", None, "worktree") => is_inside(git, text, roots),
            ("alias", None, _) => is_plain_alias(text),
            (kind, name, _) => {
                let table = if name.is_some() { &NAMED[..] } else { &PLAIN[..] };
                let keys =
                    table.iter().find(|(section, _)| *section == kind).map_or(&[][..], |(_, keys)| keys);
                let is_listed = keys.iter().any(|known| *known == key || *known == "*");
                is_listed && is_harmless_value(kind, key, text)
            }
        }
    }
}

/// Whether a value of a key that is harmless as such makes git start something nonetheless.
fn is_harmless_value(section: &str, key: &str, value: &str) -> bool {
    match (section, key) {
        // Another program speaks for a remote that is called `name::address`.
        (_, "url" | "pushurl" | "remote" | "pushremote" | "pushdefault") => {
            !value.contains("::") && !value.starts_with('-')
        }
        ("submodule", "update") => ["checkout", "rebase", "merge", "none"].contains(&value),
        _ => true,
    }
}

fn is_plain_alias(value: &str) -> bool {
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || " -_.=@~^/:%()<>,".contains(c));
    let mut words = value.split_ascii_whitespace();
    let command = words.next().is_some_and(|first| ALIASED.contains(&first));
    plain
        && command
        && !words.any(|word| word.starts_with("--ext") || word.starts_with("--o") || word.starts_with("-O"))
}

/// Whether the working tree that a configuration names lies in a workspace.
fn is_inside(git: &Path, named: &str, roots: &[&Path]) -> bool {
    let mut path = PathBuf::new();
    for part in git.join(named).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    let is_linked = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let is_below = |root: &&&Path| path.starts_with(root) && path != ***root;
    let root = roots.iter().find(is_below);
    // Git keeps one for submodules, and for nothing else that is made in a workspace.
    let is_submodule = git
        .components()
        .zip(git.components().skip(1))
        .any(|(one, next)| one.as_os_str() == ".git" && next.as_os_str() == "modules");
    is_submodule
        && !named.is_empty()
        && root.is_some_and(|root| !path.ancestors().take_while(|lead| lead != root).any(is_linked))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str) -> Vec<String> {
        judge(text.as_bytes(), b"", Path::new("/w/.git/modules/part"), &[Path::new("/w")]).held
    }

    #[test]
    fn what_git_writes_by_itself_is_harmless() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
            [remote \"origin\"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = Ada L.\n# a note\n\
            [submodule \"part\"]\n\turl = https://example.org/part\n\tactive = true\n[alias]\n\tst = status -sb\n\
            [core]\n\tworktree = ../../../part\n";
        let judged = judge(text.as_bytes(), b"", Path::new("/w/.git/modules/part"), &[Path::new("/w")]);
        assert_eq!(judged, Judged { harmless: Some(text.into()), held: Vec::new() });
    }

    #[test]
    fn what_makes_git_run_something_is_held_back_and_the_rest_is_not() {
        for (text, key) in [
            ("[core]\n fsmonitor = touch x", "core.fsmonitor"),
            ("[core]\n hooksPath = .husky", "core.hookspath"),
            ("[core]\n sshCommand = x", "core.sshcommand"),
            ("[core]\n pager", "core.pager"),
            ("[core]\n editor = x", "core.editor"),
            ("[core]\n worktree = /home/ada", "core.worktree"),
            ("[core]\n worktree = ../../../../other", "core.worktree"),
            ("[core]\n attributesFile = x", "core.attributesfile"),
            ("[alias]\n x = !touch y", "alias.x"),
            ("[alias]\n x = -c core.fsmonitor=y status", "alias.x"),
            ("[alias]\n x = rebase --exec y", "alias.x"),
            ("[alias]\n x = diff --ext-diff", "alias.x"),
            ("[filter \"x\"]\n clean = y", "filter.x.clean"),
            ("[diff \"x\"]\n textconv = y", "diff.x.textconv"),
            ("[diff]\n external = y", "diff.external"),
            ("[merge \"x\"]\n driver = y", "merge.x.driver"),
            ("[credential]\n helper = y", "credential.helper"),
            ("[include]\n path = y", "include.path"),
            ("[includeIf \"gitdir:/\"]\n path = y", "includeif.gitdir:/.path"),
            ("[url \"x\"]\n insteadOf = y", "url.x.insteadof"),
            ("[submodule \"x\"]\n update = !touch y", "submodule.x.update"),
            ("[remote \"o\"]\n url = ext::sh -c x", "remote.o.url"),
            ("[remote \"o\"]\n uploadpack = x", "remote.o.uploadpack"),
            ("[branch \"m\"]\n remote = ext::x", "branch.m.remote"),
            ("[gc]\n recentObjectsHook = x", "gc.recentobjectshook"),
            ("[gpg]\n program = x", "gpg.program"),
            ("[somebody]\n else = x", "somebody.else"),
        ] {
            let whole = format!("[user]\n\tname = a\n{text}\n[user]\n\temail = b\n");
            let judged = judge(whole.as_bytes(), b"", Path::new("/w/.git/modules/part"), &[Path::new("/w")]);
            assert_eq!(judged.held, [key], "{text}");
            let left = String::from_utf8(judged.harmless.unwrap()).unwrap();
            assert!(left.contains("name = a") && left.contains("email = b"), "{left}");
            assert_eq!(held(&left), Vec::<String>::new());
        }
    }

    #[test]
    fn what_is_not_written_plainly_is_held_back_as_a_whole() {
        for text in [
            "[user]\n name = a \\\n[core]\n",
            "[user] name = a\n",
            "[user]\n name = \"a\\n\"\n",
            "[core.x]\n y = z\n",
            "[core \"a\\\"b\"]\n x = y\n",
            "[user]\n name = a ; [core]\n",
            "name",
            "[user]\n na me = x\n",
            "[user]\n name = a\u{0}\n",
            "[user]\n name = \"a\" b\n",
        ] {
            let judged = judge(text.as_bytes(), b"", Path::new("/w/.git"), &[Path::new("/w")]);
            let known = judged.harmless.is_some() && held(text).is_empty();
            assert!(!known || text == "name", "{text:?}: {judged:?}");
        }
        assert_eq!(held("name").len(), 1);
    }

    #[test]
    fn what_a_person_has_there_stays_theirs() {
        let theirs = "[core]\n\teditor = vim -x\n[filter \"lfs\"]\n\tsmudge = git-lfs smudge -- %f\n";
        let text = format!("{theirs}[core]\n\tpager = mine\n[remote \"o\"]\n\turl = x\n");
        let judged = judge(text.as_bytes(), theirs.as_bytes(), Path::new("/w/.git"), &[Path::new("/w")]);
        assert_eq!(judged.held, ["core.pager"]);
        let left = String::from_utf8(judged.harmless.unwrap()).unwrap();
        assert!(left.contains("vim -x") && left.contains("smudge") && !left.contains("mine"), "{left}");
    }

    #[test]
    fn what_may_be_named_is_found_however_it_is_written() {
        let text = "[core]\n hooksPath = .husky/_ # ours\n[core] HOOKSPATH=\"x\"\n[y]\n hooks = no\n";
        let found: Vec<PathBuf> = mentioned(text, "hookspath").collect();
        assert_eq!(found, [Path::new(".husky/_"), Path::new("x")]);
    }
}
