"""H1, H2, H3, M7 to M12, M18, M19, L5 to L7: the workspace's own mechanism, which another issue replaces."""

import json
import os
import socket
import subprocess
import threading
import time

from harness.case import Probe
from harness.host import USUAL
from harness.servers import Stdio

FAMILY = "workspace"

SETTINGS = 'policy.allowed_commands = ["*"]\napprovals.local = false\n'


class Yard:
    """A repository, a server with the usual profile, and a mark outside of it."""

    def __init__(self, host, more="", repository="."):
        self.host, self.place = host, host.place("yard")
        self.mark = host.place("outside") / "mark"
        self.env = host.env(host.place("state"), host.write(f"{self.place}.toml", SETTINGS + more))
        self.top = self.place / repository
        self.top.mkdir(parents=True, exist_ok=True)
        host.own(self.top)
        self.person("git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x", self.top)
        self.client = Stdio(host, self.env, str(self.place))

    def person(self, line, where=None):
        """What somebody does outside of the sandbox."""
        return subprocess.run(self.host.as_user(["sh", "-c", line]), cwd=where or self.top, capture_output=True, text=True, timeout=20,
                              env={"PATH": USUAL, "HOME": str(self.host.home)}, check=False)

    def command(self, line, where=None):
        given = {"command": line, "cwd": str(where or self.place), "timeout_ms": 8000}
        return json.dumps(self.client.call("execute_command", given))

    def close(self):
        self.client.close()


def git_runs(name, line, more="", repository=".", prepare="true"):
    """A command plants something; a person's `git status` runs it."""

    def look(host):
        yard = Yard(host, more, repository)
        try:
            yard.person(prepare)
            yard.command(line.replace("@A", str(yard.mark)))
            yard.person("git status; git checkout -q -b other; git commit -q --allow-empty -m y")
            return "a person's git ran it" if yard.mark.exists() else None
        finally:
            yard.close()

    return Probe(FAMILY, name, look)


EVIL = "printf '[core]\\n\\tfsmonitor = \"touch @A; false\"\\n'"
PLANTED = [
    ("H1 commondir", f"cp -r .git evil && {EVIL} >> evil/config && echo ../evil > .git/commondir", ".", "true"),
    ("H1 config.worktree", f"{EVIL} > .git/config.worktree", ".", "git config extensions.worktreeConfig true"),
    ("H1 hooksPath in the workspace", "printf '#!/bin/sh\\ntouch @A\\n' > .husky/post-checkout; chmod +x .husky/post-checkout", ".",
     "mkdir .husky && git config core.hooksPath .husky"),
    ("H1 include.path", f"{EVIL} > shared.cfg", ".", "touch shared.cfg && git config include.path ../shared.cfg"),
    ("H1 a separate git directory", f"{EVIL} >> real/config", ".", "git init -q --separate-git-dir=real"),
    ("H1 hooks", "printf '#!/bin/sh\\ntouch @A\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout", ".", "true"),
    ("H1 config", f"{EVIL} >> .git/config", ".", "true"),
    ("H1 .git moved away", f"mv .git old; cp -r old .git; {EVIL} >> .git/config", ".", "true"),
    ("H2 a repository below, hooks", "printf '#!/bin/sh\\ntouch @A\\n' > repo/.git/hooks/post-checkout; chmod +x repo/.git/hooks/post-checkout", "repo", "true"),
    ("H2 a repository below, config", f"{EVIL} >> repo/.git/config", "repo", "true"),
    ("H2 two levels below", f"{EVIL} >> a/repo/.git/config", "a/repo", "true"),
]


def renamed(host):
    """H3: a person's rename takes the protection off a command that runs."""
    yard = Yard(host)
    try:
        given = {"cmd": f"sleep 1.5; printf '[core]\\n\\tfsmonitor = \"touch {yard.mark}; false\"\\n' >> .git/config", "login": False,
                 "workdir": str(yard.place), "yield_time_ms": 250}
        yard.client.call("exec_command", given)
        yard.person("git config alias.x y")
        time.sleep(2)
        yard.person("git status")
        return "a person's git ran it" if yard.mark.exists() else None
    finally:
        yard.close()


def path_written(host):
    """M7: a directory on PATH is the workspace."""
    place = host.place("tools")
    host.write(place / "tool", "#!/bin/sh\n", 0o755)
    mark = place / "mark"
    config = host.write(f"{place}.toml", 'policy.allowed_commands = ["echo", "tool"]\napprovals.local = false\n')
    env = host.env(host.place("state"), config)
    client = Stdio(host, env | {"PATH": f"{place}:{USUAL}"}, str(place))
    try:
        for line in (f"echo '#!/bin/sh\n: > {mark}' > tool", "tool"):
            client.call("execute_command", {"command": line, "cwd": str(place)})
        return "what was written there ran under its name" if mark.exists() else None
    finally:
        client.close()


def elsewhere(target):
    """M8: the caller's directory is a grant to write."""

    def look(host):
        yard = Yard(host)
        other = host.place("another-home")
        try:
            there = other / target
            there.parent.mkdir(parents=True, exist_ok=True)
            host.own(there.parent)
            yard.command(f"echo evil > {there.name}", there.parent)
            return f"{target} of another directory was written" if there.exists() else None
        finally:
            yard.close()

    return Probe(FAMILY, f"M8 {target}", look)


def without_cwd(host):
    """M9: a call without a directory is not held to the roots."""
    roots = host.place("roots")
    yard = Yard(host, f'policy.cwd_roots = ["{roots}"]\n')
    try:
        yard.client.call("execute_command", {"command": "echo x > written"})
        return "the server's own directory was written" if (yard.place / "written").exists() else None
    finally:
        yard.close()


def late_service(host):
    """M10: a socket that is bound after the sandbox was built."""
    yard = Yard(host)
    path = host.place("service") / "s"
    server = socket.socket(socket.AF_UNIX)
    try:
        yard.command("true")
        server.bind(str(path))
        path.chmod(0o777)
        server.listen(4)
        threading.Thread(target=lambda: server.accept(), daemon=True).start()
        said = yard.command(f"/usr/bin/python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect(\"{path}\"); print(\"CONN\"+\"ECTED\")'")
        return "connected" if "CONNECTED" in said else None
    finally:
        server.close()
        yard.close()


def device(host):
    """M12: a device file outside /dev is opened."""
    yard = Yard(host)
    try:
        node = yard.place / "random"
        os.mknod(node, 0o666 | 0o020000, os.makedev(1, 9))
        said = yard.command("head -c 4 random | wc -c")
        return "read" if "  4" in said or "\\n4" in said else None
    finally:
        yard.close()


def kept_missing(name, line):
    """M18: while a command runs a person cannot make what is protected."""

    def look(host):
        yard = Yard(host)
        try:
            yard.client.call("exec_command", {"cmd": "sleep 3", "workdir": str(yard.place), "yield_time_ms": 300, "login": False})
            done = yard.person(line)
            return f"a person is told {done.stderr.strip()[:80]!r}" if done.returncode else None
        finally:
            yard.close()

    return Probe(FAMILY, f"M18 {name}", look)


def readable(name):
    """L5: what holds keys, by default."""

    def look(host):
        yard = Yard(host)
        try:
            host.write(host.home / name, "psst-9\n", 0o600)
            return "read" if "psst-9" in yard.command(f"cat {host.home / name}") else None
        finally:
            yard.close()

    return Probe(FAMILY, f"L5 ~/{name}", look)


def writable(name):
    """L6: what runs code for other programs."""

    def look(host):
        yard = Yard(host)
        try:
            yard.command(f"mkdir -p {os.path.dirname(name) or '.'}; echo x > {name}")
            return "written" if (yard.place / name).is_file() else None
        finally:
            yard.close()

    return Probe(FAMILY, f"L6 {name}", look)


def cases(host):
    for name, line, repository, prepare in PLANTED:
        yield git_runs(name, line, "", repository, prepare)
    yield Probe(FAMILY, "H3 renamed while a command runs", renamed)
    yield Probe(FAMILY, "M7 a directory on PATH", path_written)
    for name in (".bashrc", ".ssh/authorized_keys", ".vimrc", ".tmux.conf", ".npmrc", ".cargo/env", ".pyenv/shims/x", ".nvm/nvm.sh", ".forward",
                 ".docker/cli-plugins/x", ".local/lib/python3.11/site-packages/x.pth", ".config/systemd/user/x.service"):
        yield elsewhere(name)
    yield Probe(FAMILY, "M9 a call without a directory", without_cwd)
    yield Probe(FAMILY, "M10 a service that begins later", late_service)
    if host.uid == 0:
        yield Probe(FAMILY, "M12 a device file in the workspace", device)
    for name, line in (("mkdir .vscode", "mkdir .vscode"), (".mcp.json", "echo x > .mcp.json"), (".claude", "mkdir .claude")):
        yield kept_missing(name, line)
    for name in (".git-credentials", ".npmrc", ".kube/config", ".pgpass", ".pypirc", ".cargo/credentials.toml", ".config/gh/hosts.yml", ".azure/x",
                 ".password-store/x.gpg", ".mozilla/x", ".bash_history", ".ssh/id", ".aws/credentials", ".netrc", ".docker/config.json"):
        yield readable(name)
    for name in (".cursor/x", ".devcontainer/devcontainer.json", ".zed/x", ".gemini/x", ".windsurf/x", ".github/workflows/x.yml", "x.code-workspace",
                 ".husky/x", ".pre-commit-config.yaml", ".envrc", ".vscode/x", ".idea/x", ".mcp.json", ".claude/x", ".codex/x"):
        yield writable(name)
