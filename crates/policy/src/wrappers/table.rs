//! Which wrappers there are, and how they take their command.

/// How a wrapper takes the command inside it.
#[derive(Clone, Copy)]
pub(super) enum Inner {
    /// As its first operand and what follows.
    Command,
    /// The same, after a number.
    AfterNumber,
    /// The same, after the name of a file.
    AfterFile,
    /// The same, after any number of `NAME=value`.
    Variables,
    /// The same, or `echo`, with more arguments from its input.
    Xargs,
    /// As a line for a shell, made of all its operands.
    Line,
    /// As a line for a shell, in its option `-c`. Its other options may stand anywhere, and the last `-c` counts.
    LineOption,
    /// As its first operand, a command of bash's own included; only looked up with `-v` and `-V`.
    Lookup,
    /// As its first operand, a command of bash's own included.
    Shell,
    /// In a way that is not followed.
    Refused(&'static str),
}

/// One wrapper. Options that are not listed are refused.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Short options without a value. A `-` here stands for the operand `-`.
    pub(super) flags: &'static str,
    /// Short options with a value.
    pub(super) valued: &'static str,
    /// Short options whose value, if any, is attached.
    pub(super) optional: &'static str,
    /// Whether `-10` is an option.
    pub(super) numbers: bool,
    pub(super) long_flags: &'static [&'static str],
    /// Long options with a value, and the short option that they are.
    pub(super) long_valued: &'static [(&'static str, char)],
    pub(super) inner: Inner,
    /// Whether it starts a shell where it is given no command.
    pub(super) needs_command: bool,
}

impl Wrapper {
    /// Whether an operand that nobody knows is judged later as the command that it would be. What begins as an option does is
    /// none: `-Srm\ x=~/y` has a `=` too, and `env` splits it into a command.
    pub(super) fn takes_any_operand(&self, prefix: &str) -> bool {
        matches!(self.inner, Inner::Variables) && prefix.contains('=') && !prefix.starts_with('-')
    }
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    valued: "",
    optional: "",
    numbers: false,
    long_flags: &["help", "version"],
    long_valued: &[],
    inner: Inner::Command,
    needs_command: false,
};

const HANDS_TO_A_SHELL: &str = "hands its arguments to a shell and is not followed";
const ELSEWHERE: &str = "runs its command where names mean other files and is not followed";

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "env",
        flags: "i0v-",
        valued: "uC",
        long_flags: &["ignore-environment", "null", "debug", "help", "version", "list-signal-handling"],
        long_valued: &[("unset", 'u'), ("chdir", 'C')],
        inner: Inner::Variables,
        ..PLAIN
    },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "nice", valued: "n", numbers: true, long_valued: &[("adjustment", 'n')], ..PLAIN },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long_flags: &["foreground", "preserve-status", "verbose", "help", "version"],
        long_valued: &[("kill-after", 'k'), ("signal", 's')],
        inner: Inner::AfterNumber,
        ..PLAIN
    },
    Wrapper {
        name: "time",
        flags: "apqvV",
        valued: "fo",
        long_flags: &["append", "portability", "quiet", "verbose", "help", "version"],
        long_valued: &[("format", 'f'), ("output", 'o')],
        ..PLAIN
    },
    Wrapper {
        name: "xargs",
        flags: "0optrx",
        valued: "aEILnPsd",
        optional: "eil",
        long_flags: &[
            "null",
            "open-tty",
            "interactive",
            "no-run-if-empty",
            "verbose",
            "exit",
            "show-limits",
            "help",
            "version",
        ],
        long_valued: &[
            ("arg-file", 'a'),
            ("delimiter", 'd'),
            ("max-args", 'n'),
            ("max-chars", 's'),
            ("max-procs", 'P'),
            ("replace", 'I'),
        ],
        inner: Inner::Xargs,
        ..PLAIN
    },
    Wrapper {
        name: "setsid",
        flags: "cfw",
        long_flags: &["ctty", "fork", "wait", "help", "version"],
        ..PLAIN
    },
    Wrapper {
        name: "stdbuf",
        valued: "ioe",
        long_valued: &[("input", 'i'), ("output", 'o'), ("error", 'e')],
        ..PLAIN
    },
    Wrapper { name: "command", flags: "vV", long_flags: &[], inner: Inner::Lookup, ..PLAIN },
    Wrapper { name: "builtin", long_flags: &[], inner: Inner::Shell, ..PLAIN },
    Wrapper { name: "exec", flags: "cl", long_flags: &[], ..PLAIN },
    Wrapper {
        name: "sudo",
        flags: "AbEHknPS",
        valued: "Cgprtu",
        long_flags: &[
            "askpass",
            "background",
            "preserve-env",
            "set-home",
            "reset-timestamp",
            "non-interactive",
            "stdin",
        ],
        long_valued: &[("user", 'U'), ("group", 'g'), ("prompt", 'p')],
        inner: Inner::Variables,
        ..PLAIN
    },
    Wrapper { name: "doas", flags: "n", valued: "u", long_flags: &[], ..PLAIN },
    Wrapper {
        name: "ionice",
        flags: "t",
        valued: "cn",
        long_flags: &["ignore"],
        long_valued: &[("class", 'x'), ("classdata", 'n')],
        ..PLAIN
    },
    Wrapper { name: "chrt", flags: "abdfiorRv", valued: "TPD", inner: Inner::AfterNumber, ..PLAIN },
    Wrapper { name: "taskset", flags: "ac", inner: Inner::AfterNumber, ..PLAIN },
    Wrapper { name: "watch", flags: "bcegtC", valued: "nq", optional: "d", inner: Inner::Line, ..PLAIN },
    Wrapper { name: "script", flags: "aefq", valued: "c", inner: Inner::LineOption, ..PLAIN },
    Wrapper { name: "su", flags: "lmp-", valued: "c", inner: Inner::LineOption, ..PLAIN },
    Wrapper { name: "flock", flags: "seuxnFov", valued: "wE", inner: Inner::AfterFile, ..PLAIN },
    Wrapper {
        name: "unshare",
        flags: "mUuinpCTfrc",
        long_flags: &[
            "user",
            "pid",
            "net",
            "mount",
            "ipc",
            "uts",
            "cgroup",
            "fork",
            "map-root-user",
            "map-current-user",
        ],
        needs_command: true,
        ..PLAIN
    },
    Wrapper {
        name: "strace",
        flags: "cdfFhiknqrtTvVwxyCD",
        valued: "abeIpPsSuX",
        long_flags: &["follow-forks", "quiet", "summary-only"],
        ..PLAIN
    },
    Wrapper { name: "ltrace", flags: "bcCfhiLrStTV", valued: "aenopsuwx", long_flags: &[], ..PLAIN },
    Wrapper { name: "busybox", long_flags: &["list", "list-full", "help"], ..PLAIN },
    Wrapper { name: "toybox", long_flags: &["help", "version"], ..PLAIN },
    Wrapper { name: "chroot", inner: Inner::Refused(ELSEWHERE), ..PLAIN },
    Wrapper { name: "nsenter", inner: Inner::Refused(ELSEWHERE), ..PLAIN },
    Wrapper { name: "runuser", inner: Inner::Refused(HANDS_TO_A_SHELL), ..PLAIN },
    Wrapper { name: "parallel", inner: Inner::Refused(HANDS_TO_A_SHELL), ..PLAIN },
];

/// The wrapper of this name.
pub(super) fn wrapper(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// Programs that run whatever text they are given.
const INTERPRETERS: &[&str] = &[
    "ash", "awk", "bash", "bun", "csh", "dash", "deno", "ed", "emacs", "expect", "fish", "gawk", "gdb",
    "guile", "irb", "java", "julia", "ksh", "lua", "luajit", "make", "mawk", "mksh", "nawk", "node",
    "nodejs", "npx", "perl", "php", "pwsh", "python", "rbash", "Rscript", "ruby", "sed", "sh", "ssh",
    "tclsh", "tcsh", "vi", "vim", "zsh",
];

/// Whether an operator who lists this program lists everything that it is given; versions in the name included.
pub(crate) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&family(name))
}

/// The name of a program without the version in it.
pub(super) fn family(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// Programs that start others when their arguments, or files that they read, say so.
const STARTERS: &[&str] = &[
    "ant",
    "apt",
    "apt-get",
    "at",
    "aws",
    "batch",
    "bundle",
    "cargo",
    "cmake",
    "composer",
    "crontab",
    "docker",
    "dpkg",
    "ghc",
    "git",
    "go",
    "gpg",
    "gradle",
    "groff",
    "hg",
    "kubectl",
    "ld",
    "less",
    "man",
    "meson",
    "more",
    "mvn",
    "ninja",
    "npm",
    "openssl",
    "pip",
    "pnpm",
    "podman",
    "poetry",
    "pytest",
    "rake",
    "rg",
    "rsync",
    "rustdoc",
    "scp",
    "screen",
    "sftp",
    "sort",
    "ssh-keygen",
    "svn",
    "systemctl",
    "systemd-run",
    "tar",
    "terraform",
    "tmux",
    "tox",
    "uv",
    "yarn",
    "zip",
];

/// Whether an operator who lists this program should know that it starts others by its own means.
pub(crate) fn starts_others(name: &str) -> bool {
    let listed =
        |name: &str| STARTERS.contains(&name) || super::starts_its_words(name) || super::lines::is_tool(name);
    listed(name) || listed(family(name))
}
