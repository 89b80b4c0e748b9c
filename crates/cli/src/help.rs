//! The texts below the options in `--help`.

use crate::exit::Exit;

/// What gets a newcomer to a first success.
const FIRST_STEPS: &str = r#"First steps:
  Nothing may run until you say what. See what a rule does, without running anything:

      ALLOWED_COMMANDS=ls,cat runward check -- 'ls | cat'

  Then let an MCP client start Runward. With Claude Code:

      claude mcp add runward --env ALLOWED_COMMANDS=ls,cat -- runward stdio

  With clients that are set up by a JSON file:

      {
        "mcpServers": {
          "runward": {
            "command": "runward",
            "args": ["stdio"],
            "env": { "ALLOWED_COMMANDS": "ls,cat" }
          }
        }
      }

  Or serve over HTTP, for clients that take a URL (http://127.0.0.1:8000/mcp):

      ALLOWED_COMMANDS=ls,cat runward serve

Settings: built-in defaults, then a file, then variables, then flags.
  ALLOWED_COMMANDS   what may run: ls,cat or * for everything; empty for nothing
  POLICY_DIR         a directory of rules in Rego that decide instead; the list can then only narrow
  ALLOWED_CWD_ROOTS  where it may run: /srv,/home/me/work; empty for anywhere
  RUNWARD_CONFIG     the file, else ~/.config/runward/config.toml if there is one
  RUNWARD_TOKEN      the bearer token that HTTP clients must show; or see runward token
  RUNWARD_LOG        what is logged to standard error, such as info or debug
"#;

/// Below the options of `stdio`.
pub(crate) const STDIO: &str = "\
A client starts this and speaks MCP with it, one JSON message a line. It ends at the end of its \
input or at SIGTERM, and stops every command that still runs. Log lines go to standard error.";

/// Below the options of `serve`.
pub(crate) const SERVE: &str = "\
MCP is at /mcp, streams for run-remote are at /raw; GET /healthz answers while the server lives, \
and says what is wrong with the rules in POLICY_DIR. Once it listens, one line on standard output \
says where: listening on http://127.0.0.1:8000 (the default). Any address beyond loopback needs a \
bearer token: RUNWARD_TOKEN, or see runward token. --tools closes /raw and /check unless it names raw. \
Commands that Runward runs may not call it.

Example:
  ALLOWED_COMMANDS=git,cargo runward serve --bind 127.0.0.1:0";

/// Below the options of `gc`.
pub(crate) const GC: &str = "\
What commands write to caches below the home (sandbox.caches) goes to a layer of their workspace's own, kept \
between calls and read by nothing else. Removed is what nobody uses and is older than sandbox.cache_keep, or \
over sandbox.cache_quota, least recently used first. Servers do the same when they start.

Example:
  runward gc --dry-run";

/// Below the options of `token`.
pub(crate) const TOKEN: &str = "\
Without a name, makes this user's own token, where confined commands cannot read it, and prints the file. \
Servers of this user take it from then on, and demand one if it is there when they start; run-remote finds \
it by itself for servers on this machine.

With a name, prints a token once and what to write into the settings: its hash, so that the token itself \
is nowhere. Each name is somebody of their own, who shares nothing with others. Roles:
  run     start commands, and drive and read what it started
  read    read what was started under its name, and ask what may run
  answer  answer for a person in the forms that the client shows; without it only runward approvals does

Examples:
  runward token
  runward token ci --roles run,answer";

/// How `check` is called.
pub(crate) const CHECK_USAGE: &str = "\
runward check [OPTIONS] -- 'COMMAND LINE'
       runward check [OPTIONS] -- PROGRAM ARGUMENT...";

/// Below the options of `check`.
pub(crate) const CHECK: &str = "\
One argument is a command line, read as execute_command reads it: where it has shell syntax, every \
command inside is judged. Two or more are a program and its arguments, read as execute_process \
reads them: shell syntax means nothing. With POLICY_DIR, shows what the rules were told of each command, \
which of them hold, and at which line the others end. Exits 0 when the command is allowed, 1 when it is not.

Examples:
  ALLOWED_COMMANDS=ls,cat runward check -- 'ls -l | cat'
  ALLOWED_COMMANDS=ls runward check --json -- ls '*.txt'
  POLICY_DIR=policies/subcommands runward check -- git push";

/// Below the options of `doctor`.
pub(crate) const DOCTOR: &str = "\
Confines a program as sandbox.profile says (as workspace-write where that is full-access) and has it \
write, move, link, connect, trace, mount and so on where it must not, in a directory of its own that \
is removed afterwards. Says which promises are kept, by what they are broken, and what would have to \
change on this host. Exits 0 when all are kept, 1 when not.

Examples:
  runward doctor
  runward doctor --json
  RUNWARD_SANDBOX_PROFILE=read-only runward doctor";

/// Below the subcommands of `approvals`.
pub(crate) const APPROVALS: &str = "\
A server asks before it runs a command where a rule says \"ask\", where a caller wants to leave the \
sandbox, and, under approval_policy = \"untrusted\", about everything that no rule allows by name. \
Whoever answers first counts: here, or the user of the client that called. Servers of the same user \
on this machine are asked, through private sockets in runward/approvals in the XDG state directory. \
Exits 1 when nobody asks that question any more.

Examples:
  runward approvals list
  runward approvals allow 0a1b2c3d --session
  runward approvals deny 0a1b2c3d --note 'push to a branch instead'";

/// Below `held`.
pub(crate) const HELD: &str = "\
What a confined command makes under a name by which other programs find code is held back: hooks and \
settings of git that run something, .vscode, .mcp.json, .claude and the like. Commands in the sandbox \
see it and it works there; nobody else does. Without a subcommand, lists what is held back.

Examples:
  runward held
  runward held show .git/hooks
  runward held accept .vscode
  runward held discard --all";

/// Below the subcommands of `audit`.
const AUDIT: &str = "\
Every call, run or refused, is recorded before anything runs and again when it ends. Each record \
holds the hash of the one before it, so that tampering shows. Secrets are left out. The trail is \
runward/audit.db in the XDG state directory, unless RUNWARD_AUDIT_PATH or a file says otherwise.

Examples:
  runward audit list --since 2h --denied
  runward audit list --json --grep 'git push' | jq -r .command
  runward audit verify
";

/// Below the options of `audit list`.
pub(crate) const AUDIT_LIST: &str = "\
EXIT is the exit code or the signal; open while the command runs, lost when its server did not \
live to see the end. Control characters are shown escaped.";

/// Below the options of `audit verify`.
pub(crate) const AUDIT_VERIFY: &str = "\
Exits 0 when every record is as it was written, 1 when one was edited, removed, added or reordered, \
and says which. Whoever may write to the file can also rewrite all of it: keep the head elsewhere \
and compare.";

/// Below the options of `audit export`.
pub(crate) const AUDIT_EXPORT: &str = "\
A line holds number, prev, hash and body. The hash is SHA-256 over prev (32 bytes), number (8 bytes, \
big-endian) and the body exactly as it stands in the line.";

/// Below the subcommands of `audit`.
pub(crate) fn audit() -> String {
    format!("{AUDIT}\n{}", Exit::table())
}

/// Below the options of `policy test`.
pub(crate) const POLICY_TEST: &str = "\
Each attack is a line that tries to run a program that your rules do not allow, named canary: beside \
an allowed command, inside quotes and expansions, behind wrappers, by way of variables, or by telling \
an allowed program to run it. Those that your rules would let through are shown with the reason. Where \
everything is allowed but some commands are blocked, canary counts as blocked. Exits 0 when none gets \
through, 1 when one does.

Examples:
  ALLOWED_COMMANDS=ls,cat,git runward policy test
  runward policy test --config rules.toml --json";

/// Below the options of `runward` itself.
pub(crate) fn first_steps() -> String {
    format!("{FIRST_STEPS}\n{}", Exit::table())
}
