//! Programs that start what one of their options says, with the options that do.

use crate::facts::Word;

/// How certain it is that a text is a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certain {
    /// It is: what cannot be read may not run.
    Yes,
    /// It may be, among much that is none.
    No,
}

/// What a program would start.
#[derive(Debug)]
pub(crate) enum Started<'a> {
    /// What this text says, as a line or as the name of a program.
    Text(&'a Word, Certain),
    /// The command that these words are.
    Words(&'a [Word]),
}

/// Options of programs that hold a command. Long ones count with one dash and with two, and in every abbreviation.
struct Tool {
    names: &'static [&'static str],
    letters: &'static str,
    long: &'static [&'static str],
    certain: Certain,
    /// Options, and commands of the program, behind which another command stands word by word.
    before_words: &'static [&'static str],
}

const NONE: Tool = Tool { names: &[], letters: "", long: &[], certain: Certain::Yes, before_words: &[] };

const TOOLS: &[Tool] = &[
    Tool {
        names: &["tar", "bsdtar", "gtar"],
        letters: "IF",
        long: &[
            "to-command",
            "use-compress-program",
            "checkpoint-action",
            "info-script",
            "new-volume-script",
            "rsh-command",
            "rmt-command",
        ],
        ..NONE
    },
    Tool { names: &["rsync"], letters: "eM", long: &["rsh", "rsync-path"], ..NONE },
    Tool {
        names: &["scp", "sftp", "sshfs", "rclone"],
        letters: "So",
        long: &["ssh", "sftp-ssh", "program"],
        ..NONE
    },
    Tool { names: &["split"], long: &["filter"], ..NONE },
    Tool { names: &["sort"], long: &["compress-program"], ..NONE },
    Tool { names: &["install"], long: &["strip-program"], ..NONE },
    Tool { names: &["cpio"], long: &["rsh-command", "rmt-command"], ..NONE },
    Tool { names: &["man"], letters: "PH", long: &["pager", "html", "extension"], ..NONE },
    Tool { names: &["rg"], long: &["pre", "hostname-bin"], ..NONE },
    Tool { names: &["ag", "bat", "batcat", "delta"], long: &["pager"], ..NONE },
    Tool {
        names: &["fd", "fdfind"],
        before_words: &["-x", "-X", "--exec", "--exec-batch"],
        long: &["exec", "exec-batch"],
        ..NONE
    },
    Tool { names: &["xterm", "uxterm", "rxvt", "urxvt", "konsole"], before_words: &["-e"], ..NONE },
    Tool { names: &["zip"], letters: "T", long: &["unzip-command"], ..NONE },
    Tool { names: &["wget"], letters: "e", long: &["use-askpass", "execute"], ..NONE },
    Tool { names: &["tcpdump"], letters: "z", ..NONE },
    Tool { names: &["nc", "ncat", "netcat"], letters: "ec", long: &["exec", "sh-exec", "lua-exec"], ..NONE },
    Tool {
        names: &["gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "gfortran"],
        long: &["wrapper", "ld-path", "fuse-ld"],
        ..NONE
    },
    Tool { names: &["rustc", "cargo"], letters: "C", long: &["codegen"], certain: Certain::No, ..NONE },
    Tool { names: &["go"], long: &["exec", "toolexec", "vettool"], ..NONE },
    Tool { names: &["cargo"], long: &["config"], certain: Certain::No, ..NONE },
    Tool {
        names: &["gpg", "gpg2"],
        long: &["photo-viewer", "agent-program", "dirmngr-program", "pinentry-program"],
        ..NONE
    },
    Tool { names: &["sftp", "scp"], letters: "D", ..NONE },
    Tool { names: &["svn"], long: &["diff-cmd", "diff3-cmd", "editor-cmd", "config-option"], ..NONE },
    Tool { names: &["hg"], letters: "e", long: &["config"], certain: Certain::No, ..NONE },
    Tool { names: &["cvs"], letters: "e", certain: Certain::No, ..NONE },
    Tool { names: &["dpkg", "dpkg-deb"], long: &["pre-invoke", "post-invoke", "status-logger"], ..NONE },
    Tool {
        names: &["apt", "apt-get", "aptitude"],
        letters: "o",
        long: &["option"],
        certain: Certain::No,
        ..NONE
    },
    Tool { names: &["ansible"], letters: "a", long: &["args"], certain: Certain::No, ..NONE },
    Tool { names: &["mysql", "mariadb"], long: &["pager"], ..NONE },
    Tool {
        names: &["git"],
        letters: "xOu",
        long: &[
            "exec",
            "extcmd",
            "upload-pack",
            "receive-pack",
            "open-files-in-pager",
            "tree-filter",
            "env-filter",
            "index-filter",
            "parent-filter",
            "msg-filter",
            "commit-filter",
            "tag-name-filter",
            "setup",
            "sendmail-cmd",
            "smtp-server",
            "to-cmd",
            "cc-cmd",
            "config",
            "access-hook",
        ],
        before_words: &["run", "foreach", "remote-ext", "shell"],
        certain: Certain::No,
    },
    Tool {
        names: &[
            "vi", "vim", "nvim", "ex", "view", "vimdiff", "rview", "rvim", "gvim", "emacs", "less", "more",
        ],
        letters: "c",
        long: &["cmd", "eval"],
        certain: Certain::No,
        ..NONE
    },
];

/// Programs of which every word may hold a command among other text: `SHELL=…`, `.shell …`, `EXEC:…`.
const ALL_WORDS: &[&str] =
    &["ed", "gmake", "less", "make", "more", "mutt", "socat", "vi", "vim", "nvim", "ex", "view"];

/// Whether this program starts what its options say.
pub(crate) fn is_tool(name: &str) -> bool {
    ALL_WORDS.contains(&name) || TOOLS.iter().any(|tool| tool.names.contains(&name))
}

/// Everything that this program would start, as far as its options say.
pub(crate) fn started<'a>(name: &str, args: &'a [Word]) -> Vec<Started<'a>> {
    let mut found = Vec::new();
    if ALL_WORDS.contains(&name) {
        // A plain word is a file or a target.
        let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_-./".contains(c));
        let texts = args.iter().filter(|word| word.text().is_none_or(|text| !plain(text)));
        found.extend(texts.map(|word| Started::Text(word, Certain::No)));
    }
    if name == "git" {
        // `git config alias.x '!command'` is started by a later one, `ext::command` is a repository.
        let settings = args.iter().any(|word| word.text() == Some("config"));
        let started = args.iter().filter(|word| settings || word.prefix().starts_with("ext::"));
        found.extend(started.map(|word| Started::Text(word, Certain::No)));
    }
    for tool in TOOLS.iter().filter(|tool| tool.names.contains(&name)) {
        for (at, word) in args.iter().enumerate() {
            let after = args.get(at + 1..).unwrap_or_default();
            tool.look_at(word, at, after, &mut found);
        }
    }
    found
}

impl Tool {
    fn look_at<'a>(&self, word: &'a Word, at: usize, after: &'a [Word], found: &mut Vec<Started<'a>>) {
        let text = word.prefix();
        if self.before_words.contains(&text) {
            found.push(Started::Words(after));
            found.extend(after.iter().map(|word| Started::Text(word, Certain::No)));
        }
        let bare = text.trim_start_matches('-');
        let given = bare.split('=').next().unwrap_or_default();
        let is_long = text.len() > 2 && text.starts_with('-') && !given.is_empty();
        if is_long && self.long.iter().any(|long| long.starts_with(given)) {
            found.push(if bare.contains('=') { self.text(word) } else { self.next(after) });
            return;
        }
        // `tar xIf` means `tar -xIf`; its values follow in the order of the letters.
        let old = at == 0 && self.names.contains(&"tar") && !text.starts_with('-');
        let short = old || text.starts_with('-') && !text.starts_with("--");
        if short && bare.contains(|letter| self.letters.contains(letter)) {
            found.push(self.text(word));
            let values = if old { after.len() } else { 1 };
            found.extend(after.iter().take(values).map(|word| self.text(word)));
        }
    }

    fn text<'a>(&self, word: &'a Word) -> Started<'a> {
        Started::Text(word, self.certain)
    }

    fn next<'a>(&self, after: &'a [Word]) -> Started<'a> {
        after.first().map_or(Started::Words(&[]), |word| self.text(word))
    }
}
