//! Short and long names of the same option.

/// Options of programs that operators block by them: program, then long name and letters of each.
const TABLE: &[(&str, &[(&str, &str)])] = &[
    ("rm", &[("recursive", "rR"), ("force", "f"), ("dir", "d"), ("verbose", "v"), ("interactive", "iI")]),
    (
        "cp",
        &[
            ("recursive", "rR"),
            ("force", "f"),
            ("archive", "a"),
            ("link", "l"),
            ("symbolic-link", "s"),
            ("remove-destination", ""),
            ("target-directory", "t"),
        ],
    ),
    ("mv", &[("force", "f"), ("no-clobber", "n"), ("target-directory", "t")]),
    ("ln", &[("symbolic", "s"), ("force", "f"), ("no-dereference", "n")]),
    ("chmod", &[("recursive", "R"), ("silent", "f"), ("quiet", "f"), ("verbose", "v")]),
    ("chown", &[("recursive", "R"), ("silent", "f"), ("quiet", "f"), ("no-dereference", "h")]),
    ("chgrp", &[("recursive", "R"), ("silent", "f"), ("quiet", "f"), ("no-dereference", "h")]),
    ("rmdir", &[("parents", "p"), ("verbose", "v")]),
    ("mkdir", &[("parents", "p"), ("mode", "m")]),
    ("ls", &[("all", "a"), ("recursive", "R")]),
    ("grep", &[("recursive", "rR"), ("dereference-recursive", "R")]),
    ("sed", &[("in-place", "i"), ("expression", "e"), ("file", "f"), ("quiet", "n"), ("silent", "n")]),
    ("shred", &[("force", "f"), ("remove", "u"), ("zero", "z")]),
    ("tee", &[("append", "a")]),
    ("truncate", &[("size", "s"), ("no-create", "c")]),
    (
        "tar",
        &[
            ("extract", "x"),
            ("get", "x"),
            ("create", "c"),
            ("file", "f"),
            ("to-command", ""),
            ("absolute-names", "P"),
        ],
    ),
    ("kill", &[("signal", "s")]),
    (
        "curl",
        &[
            ("output", "o"),
            ("remote-name", "O"),
            ("upload-file", "T"),
            ("data", "d"),
            ("form", "F"),
            ("insecure", "k"),
            ("config", "K"),
            ("request", "X"),
        ],
    ),
    ("wget", &[("output-document", "O"), ("execute", "e"), ("post-file", ""), ("recursive", "r")]),
    ("rsync", &[("rsh", "e"), ("recursive", "r"), ("archive", "a"), ("delete", "")]),
    (
        "git",
        &[
            ("force", "f"),
            ("all", "a"),
            ("delete", "d"),
            ("mirror", ""),
            ("no-verify", "n"),
            ("message", "m"),
            ("tags", "t"),
            ("verbose", "v"),
            ("quiet", "q"),
        ],
    ),
    (
        "docker",
        &[
            ("volume", "v"),
            ("force", "f"),
            ("all", "a"),
            ("detach", "d"),
            ("interactive", "i"),
            ("tty", "t"),
            ("user", "u"),
        ],
    ),
    (
        "podman",
        &[
            ("volume", "v"),
            ("force", "f"),
            ("all", "a"),
            ("detach", "d"),
            ("interactive", "i"),
            ("tty", "t"),
            ("user", "u"),
        ],
    ),
    ("kubectl", &[("all", ""), ("filename", "f"), ("namespace", "n"), ("all-namespaces", "A")]),
    ("npm", &[("global", "g"), ("force", "f")]),
    ("pip", &[("user", ""), ("upgrade", "U"), ("requirement", "r")]),
    ("systemctl", &[("force", "f"), ("now", ""), ("host", "H")]),
    ("crontab", &[("remove", "r")]),
    ("iptables", &[("flush", "F"), ("append", "A"), ("delete", "D"), ("insert", "I")]),
    ("useradd", &[("create-home", "m"), ("non-unique", "o"), ("uid", "u")]),
    ("userdel", &[("remove", "r"), ("force", "f")]),
    ("dd", &[]),
    ("find", &[]),
];

/// Programs whose options of several letters have one dash.
const ONE_DASH: &[&str] = &[
    "dotnet",
    "ffmpeg",
    "find",
    "gcc",
    "go",
    "iptables-restore",
    "java",
    "javac",
    "openssl",
    "packer",
    "tcpdump",
    "terraform",
    "tofu",
    "X",
    "xterm",
];

/// Whether options of this program are words, so that `-delete` is not `-d -e -l …`.
pub(super) fn has_words(program: &str) -> bool {
    ONE_DASH.contains(&program)
}

/// Whether the first word of this program holds options even without a dash.
pub(super) fn begins_with_letters(program: &str) -> bool {
    matches!(program, "ar" | "bsdtar" | "ps" | "tar")
}

/// Whether `--` ends the options of this program for certain.
pub(super) fn ends_options(program: &str) -> bool {
    TABLE.iter().any(|(name, _)| *name == program)
        && !matches!(program, "dd" | "find" | "docker" | "podman" | "kubectl" | "npm")
}

/// The letters that mean the same as this long name.
pub(super) fn letters(program: &str, long: &str) -> &'static str {
    options(program).iter().find(|(name, _)| *name == long).map_or("", |(_, letters)| letters)
}

/// The long names that mean the same as this letter, and the other letters that do.
pub(super) fn of_letter(
    program: &str,
    letter: char,
) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    options(program).iter().filter(move |(_, letters)| letters.contains(letter))
}

fn options(program: &str) -> &'static [(&'static str, &'static str)] {
    TABLE.iter().find(|(name, _)| *name == program).map_or(&[], |(_, options)| options)
}
