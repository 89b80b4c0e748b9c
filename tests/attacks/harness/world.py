"""A server under one policy, a workspace with traps in it, and how cases are tried there."""

import functools
import json
import subprocess

from .calls import arguments, filled, raw_text
from .servers import Serve, Stdio

# What a policy that names commands allows. None of them can run another program by its arguments.
CARRIERS = ("ls", "echo", "cat", "true", "printf", "getopts", "read", "mapfile", "test", "id", "head", "tr", "wc", "sort",
            "env", "script", "su", "xargs", "timeout", "nice", "nohup", "git", "[", "declare", "export", "set", "unset",
            "local", "readonly", "typeset", "let", "shift", "wait", "trap", "eval", "exec", "command", "builtin", "cd")

FORBIDDEN = ("touch", "canary")


def quoted(names):
    return ", ".join(json.dumps(name) for name in names)


def settings(policy, carriers=CARRIERS, more=""):
    """The settings file of a policy."""
    allowed = ["*"] if policy in ("blocked", "patterns", "denied", "asked", "open") else list(carriers)
    head = ['approval_policy = "untrusted"'] if policy == "untrusted" else []
    if policy in ("untrusted", "rego"):
        allowed.append("*")
    body = [f"policy.allowed_commands = [{quoted(allowed)}]", "approvals.local = false"]
    if policy == "rego":
        body.append('policy.directory = "@W.rego"')
    if policy == "blocked":
        body.append(f"shell_tool.blocked_commands = [{quoted(FORBIDDEN)}]")
    if policy == "patterns":
        body.append(f"shell_tool.blocked_patterns = [{quoted('^' + name for name in FORBIDDEN)}]")
    rules = {"denied": "deny", "asked": "ask"}
    for name in FORBIDDEN if policy in rules else ():
        body.append(f'[[rule]]\npattern = ["{name}"]\ndecision = "{rules[policy]}"')
    return "\n".join([*head, *([more] if more and not more.startswith("[") else []), *body,
                      *([more] if more.startswith("[") else [])]) + "\n"


def rego(carriers):
    return f"package sandbox.main\n\nnames := {{{quoted(carriers)}}}\n\nallow if input.command in names\n"


class World:
    """Everything is made with the first case that needs it."""

    def __init__(self, host, policy, carriers=CARRIERS, more="", cwd=None, env=None):
        self.host, self.policy = host, policy
        self.workspace = host.place(policy)
        self.trapped = self.workspace / "trapped"
        self.state = host.place("state")
        text = settings(policy, carriers, more).replace("@W", str(self.workspace))
        self.settings = host.write(f"{self.workspace}.toml", text)
        if policy == "rego":
            host.write(f"{self.workspace}.rego/main.rego", rego(carriers))
        self.env = host.env(self.state, self.settings, **(env or {}))
        self.cwd = cwd or str(self.workspace)
        self.stdio_client = self.server = None
        self.marks = {}
        for trap in ("canary", "a/ls", "1/ls", "0/ls", "usr/bin/ls", "bin/ls", "x", "ls", "git-push", "touch-it"):
            host.canary(self.workspace / trap, self.trapped)

    @property
    def stdio(self):
        self.stdio_client = self.stdio_client or Stdio(self.host, self.env, self.cwd)
        return self.stdio_client

    @property
    def http(self):
        self.server = self.server or Serve(self.host, self.env, self.cwd)
        return self.server

    def mark(self, name):
        return self.workspace / name

    def ask(self, door, what, cwd, env, more):
        """What a door answers, as text."""
        given = arguments(door, what, cwd, env, more)
        if door == "check":
            words = [what] if isinstance(what, str) else what
            _, said = self.host.run(["check", "--cwd", cwd, "--", *words], self.env, self.cwd)
            return said.replace("allowed", "ALLOWED", 1) if said.startswith("allowed") else said
        if door != "raw":
            return json.dumps(self.stdio.call(door, given), ensure_ascii=False)
        status, _, body = self.http.raw(given)
        return f"{status} {raw_text(body)}"

    def try_case(self, case, door):
        """None where nothing came of it, else what did."""
        name = f"m{self.host.number()}"
        mark = self.mark(name)
        places = {"@M": name, "@W": str(self.workspace), "@X": git_programs()}
        self.marks[mark] = (case, door)
        said = self.ask(door, filled(case.what, places), filled(case.cwd, places), filled(case.env, places),
                        filled(case.more, places))
        return self.found(mark) or self.told(case, said)

    def found(self, mark):
        for path in (mark, self.trapped, *self.workspace.glob("dirs/*/odd"), self.workspace / "odd"):
            if path.is_symlink() or path.exists():
                path.unlink() if not path.is_dir() else path.rmdir()
                return f"{path.name} was made"
        return None

    def told(self, case, said):
        return f"answered {case.through!r}" if case.through and case.through in said else None

    def late(self):
        """What came after its case was over."""
        return [(case, door) for mark, (case, door) in self.marks.items() if mark.exists()]

    def controls(self):
        """What an attack could not be told from if it failed: each door runs what is allowed."""
        failures = []
        for door in ("execute_command", "shell", "exec_command", "execute_process", "run_network_tool", "raw"):
            is_line = door in ("execute_command", "shell", "exec_command")
            what = "printf %s-%s con trol" if is_line else ["printf", "%s-%s", "con", "trol"]
            said = self.ask(door, what, str(self.workspace), {}, {})
            if "con-trol" not in said:
                failures.append(f"{self.policy}: {door} does not run printf: {said[:300]}")
        return failures

    def close(self):
        for opened in (self.stdio_client, self.server):
            if opened:
                opened.close()


@functools.cache
def git_programs():
    """Where git keeps its own."""
    return subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=False).stdout.strip()
