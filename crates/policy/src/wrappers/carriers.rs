//! Programs that start what their words say, with options that are not read here.

/// Programs whose words are a command of this host behind options of their own. They are looked through word by word where
/// some commands are blocked. An operator who lists one lists what it starts.
const STARTERS: &[&str] = &[
    "aarch64",
    "armv8l",
    "bwrap",
    "capsh",
    "cgexec",
    "chpst",
    "choom",
    "chronic",
    "coreutils",
    "cpulimit",
    "dbus-launch",
    "dbus-run-session",
    "dumb-init",
    "eatmydata",
    "entr",
    "envdir",
    "envuidgid",
    "fakechroot",
    "fakeroot",
    "faketime",
    "firejail",
    "gdb",
    "gosu",
    "heaptrack",
    "hyperfine",
    "i386",
    "ifne",
    "inotifywait",
    "kexec",
    "linux32",
    "linux64",
    "logsave",
    "ltrace",
    "memusage",
    "mispipe",
    "nocache",
    "numactl",
    "parallel",
    "pee",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "ptrace",
    "rlwrap",
    "rr",
    "run-one",
    "run-parts",
    "runcon",
    "s6-setuidgid",
    "setarch",
    "setpriv",
    "setuidgid",
    "sg",
    "softlimit",
    "ssh-agent",
    "sshpass",
    "start-stop-daemon",
    "su-exec",
    "systemd-cat",
    "systemd-inhibit",
    "systemd-nspawn",
    "tini",
    "torify",
    "torsocks",
    "trickle",
    "tsocks",
    "uclampset",
    "uname26",
    "unbuffer",
    "valgrind",
    "vlock",
    "x86_64",
    "xvfb-run",
];

/// Programs with commands of their own, some of which start what stands behind them, here or elsewhere.
const TOOLS: &[&str] = &[
    "aws-vault",
    "bazel",
    "bun",
    "bundle",
    "bunx",
    "cmake",
    "conda",
    "corepack",
    "deno",
    "direnv",
    "docker",
    "dotenv",
    "gcloud",
    "ip",
    "just",
    "kubectl",
    "lxc",
    "machinectl",
    "mise",
    "mosh",
    "nerdctl",
    "nix",
    "nix-shell",
    "npm",
    "npx",
    "op",
    "pipenv",
    "pipx",
    "pnpm",
    "pnpx",
    "podman",
    "poetry",
    "rustup",
    "ssh",
    "toolbox",
    "uv",
    "uvx",
    "vagrant",
    "yarn",
];

/// Whether this program may start a command that stands among its words.
pub(crate) fn starts_its_words(name: &str) -> bool {
    is_starter(name) || TOOLS.contains(&name)
}

/// Whether its words, but for its options, are a command of this host.
pub(crate) fn is_starter(name: &str) -> bool {
    STARTERS.contains(&name)
}

/// Options behind which a line for a shell stands, or a command of the program's own that can start others.
const BEFORE_LINES: &[&str] = &[
    "-c",
    "--call",
    "--command",
    "--eval-command",
    "--exec",
    "-ex",
    "-iex",
    "-ix",
    "--run",
    "--session-command",
    "--shell-command",
    "-x",
];

/// Whether the word behind this option is a line.
pub(crate) fn is_before_line(option: &str) -> bool {
    BEFORE_LINES.contains(&option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order_and_hold_nothing_twice() {
        for list in [STARTERS, TOOLS] {
            let mut names = list.to_vec();
            names.dedup();
            assert_eq!(names.len(), list.len());
        }
        assert!(STARTERS.iter().all(|name| !TOOLS.contains(name)));
    }
}
