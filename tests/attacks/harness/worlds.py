"""The policies that cases are tried under, by name."""

import os
import subprocess

from .case import AGAINST, NAMED
from .host import USUAL
from .world import CARRIERS, World

GIT_RULE = '[[rule]]\npattern = ["git", "push"]\ndecision = "deny"\n'
PATH_REGO = 'package sandbox.main\n\nallow if input.path == "/usr/bin/ls"\nallow if input.path == null\n' \
    'allow if input.command in {"env", "nice", "xargs", "timeout", "true", "cd", "printf"}\n'

# Directories that a shell would not read as they are.
ODD_NAMES = ("-x", "x y", "$(touch odd)", "`touch odd`", ";touch odd", "a[$(touch odd)]", "~", "*", "\\", "'", '"')


class GitWorld(World):
    """A repository whose branch pushes; a branch in its origin is the mark."""

    def __init__(self, host, name):
        more = GIT_RULE if name == "gitrule" else 'shell_tool.blocked_commands = ["git push"]'
        super().__init__(host, "open", more=more)
        self.policy = name
        self.origin = self.workspace / "origin.git"
        script = ("git init -q --bare origin.git && git init -q . && git -c user.name=a -c user.email=a@b commit -q "
                  "--allow-empty -m x && git remote add origin ./origin.git && mkdir gitlink && ln -s \"$(command -v git)\" gitlink/git-push")
        env = {"PATH": USUAL, "HOME": str(host.home), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(host.as_user(["sh", "-c", script]), cwd=self.workspace, env=env, check=True, capture_output=True)

    def mark(self, name):
        return self.origin / "refs/heads" / name


def absolute(host):
    """One program by its path, a server in its directory, and another program of that name further down."""
    world = World(host, "list", carriers=("@W/tools/run", *CARRIERS))
    host.write(world.workspace / "tools/run", "#!/bin/sh\n", 0o755)
    host.canary(world.workspace / "deep/tools/run", world.trapped)
    return world


def rego_path(host):
    world = World(host, "rego", cwd="/")
    host.write(f"{world.workspace}.rego/main.rego", PATH_REGO)
    return world


def made(host, name):
    """A new world of this name."""
    makers = {
        "gitrule": lambda: GitWorld(host, "gitrule"),
        "gitblock": lambda: GitWorld(host, "gitblock"),
        "patchless": lambda: World(host, "open", more='[[rule]]\npattern = ["apply_patch"]\ndecision = "deny"\n'),
        "absolute": lambda: absolute(host),
        "rego-path": lambda: rego_path(host),
        "list-in-root": lambda: World(host, "list", cwd="/"),
        "dotted": lambda: World(host, "open", more='shell_tool.blocked_patterns = ["^touch .*m[0-9]+", "^(\\\\S*/)?env .*touch .*m[0-9]"]'),
    }
    plain = lambda: World(host, name)
    if name not in (*NAMED, *AGAINST, "open", *makers):
        raise KeyError(name)
    world = makers.get(name, plain)()
    for path, target in (("link", "/usr/bin/touch"), ("self-cwd", "/proc/self/cwd"), ("proc-link", "/proc"),
                         ("cwd-link", "self-cwd"), ("twice", "cwd-link")):
        os.symlink(target, world.workspace / path)
        host.own(world.workspace / path)
    host.write(world.workspace / "deep/x", "")
    host.write(world.workspace / "wrap", "#!/bin/sh\n[ \"$1\" = -x ] || [ \"$1\" = -- ] && shift\nexec \"$@\"\n", 0o755)
    for name in ODD_NAMES:
        host.write(world.workspace / "dirs" / name / "x", "")
    if not (world.workspace / "deep/link").exists():
        os.symlink("/usr/bin/touch", world.workspace / "deep/link")
    return world
