"""H5: what a person approved is changed before it runs, or before it runs again."""

import json
import os
import shutil

from harness.case import Probe, Skip
from harness.people import Person
from harness.servers import Stdio

FAMILY = "H5 approved"

GOOD = {"sh": "#!/bin/sh\ntrue\n", "py": "#!/usr/bin/python3\npass\n", "pl": "#!/usr/bin/perl\n1;\n", "mk": "a:\n\ttrue\n",
        "awk": "BEGIN{}\n", "sed": "p\n", "js": "1\n"}
EVIL = {"sh": "#!/bin/sh\n: > '{mark}'\n", "py": "#!/usr/bin/python3\nopen('{mark}', 'w')\n",
        "pl": "#!/usr/bin/perl\nopen(F, '>', '{mark}');\n", "mk": "a:\n\t: > '{mark}'\n", "awk": "BEGIN{{print > \"{mark}\"}}\n",
        "sed": "w {mark}\n", "js": "require('fs').writeFileSync('{mark}', '')\n"}

# What is asked about, and the file that is changed meanwhile.
ASKED = [("./deploy.sh", "deploy.sh"), ("bash deploy.sh", "deploy.sh"), ("sh ./deploy.sh", "deploy.sh"),
         ("env bash deploy.sh", "deploy.sh"), ("python3 deploy.py", "deploy.py"), ("/usr/bin/python3 ./deploy.py x", "deploy.py"),
         ("perl deploy.pl", "deploy.pl"), ("true; ./deploy.sh", "deploy.sh"), ("./deploy.sh | cat", "deploy.sh"),
         (". ./deploy.sh", "deploy.sh"), ("source ./deploy.sh", "deploy.sh"), ("make -f deploy.mk a", "deploy.mk"),
         ("make --file=deploy.mk a", "deploy.mk"), ("nice ./deploy.sh", "deploy.sh"), ("timeout 5 ./deploy.sh", "deploy.sh"),
         ("cd sub && ./deploy.sh", "sub/deploy.sh"), ("bash < deploy.sh", "deploy.sh"), ("sub/deploy.sh", "sub/deploy.sh"),
         ("link", None), ("./link.sh", "link.sh"), ("awk -f deploy.awk", "deploy.awk"), ("sed -n -f deploy.sed deploy.sh", "deploy.sed"),
         ("bash -x deploy.sh", "deploy.sh"), ("xargs ./deploy.sh < /dev/null", "deploy.sh"), ("cat deploy.sh | bash", "deploy.sh"),
         ("exec ./deploy.sh", "deploy.sh"), ("(./deploy.sh)", "deploy.sh"), ("if ./deploy.sh; then true; fi", "deploy.sh"),
         ("env -S 'bash deploy.sh'", "deploy.sh"), ("sh -c './deploy.sh'", "deploy.sh"), ("bash -c 'bash deploy.sh'", "deploy.sh"),
         ("find . -maxdepth 0 -exec ./deploy.sh \\;", "deploy.sh"), ("node deploy.js", "deploy.js"), ("./deploy.py", "deploy.py")]
ASKED = [row for row in ASKED if row[1]]


def in_place(path, text):
    path.write_text(text)


def by_rename(path, text):
    other = path.with_name("other")
    other.write_text(text)
    other.chmod(0o755)
    os.replace(other, path)


def by_link(path, text):
    other = path.with_name("other")
    other.write_text(text)
    other.chmod(0o755)
    path.unlink()
    path.symlink_to("other")


def by_directory(path, text):
    """The whole directory is another one."""
    folder = path.parent
    shutil.copytree(folder, f"{folder}.new", symlinks=True)
    os.rename(folder, f"{folder}.old")
    os.rename(f"{folder}.new", folder)
    path.write_text(text)


def append(path, text):
    with path.open("a") as file:
        file.write("\n" + "\n".join(text.splitlines()[1:]) + "\n")


def same_time(path, text):
    """The times are put back."""
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class Desk:
    """A server that asks, a person who answers, a workspace."""

    def __init__(self, host, more=""):
        self.host, self.place, self.state = host, host.place("approved"), host.place("state")
        config = host.write(f"{self.place}.toml", 'policy.allowed_commands = ["*"]\n' + more)
        env = host.env(self.state, config)
        self.mark = host.place("outside") / "mark"
        self.client = Stdio(host, env, str(self.place))
        self.person = Person(host, env, self.place)
        for suffix, text in GOOD.items():
            host.write(self.place / f"deploy.{suffix}", text, 0o755)
            host.write(self.place / f"sub/deploy.{suffix}", text, 0o755)
        os.symlink("deploy.sh", self.place / "link.sh")

    def ask(self, command, **more):
        given = {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "?", "yield_time_ms": 5000,
                 "login": False, "workdir": str(self.place)}
        return self.client.begin("tools/call", {"name": "exec_command", "arguments": given | more})

    def evil(self, path):
        return EVIL[str(path).rsplit(".", 1)[-1]].format(mark=self.mark)

    def close(self):
        self.client.close()


def swapped(command, name, change):
    """A file is changed while its question waits."""

    def look(host):
        if command.startswith("node") and not shutil.which("node"):
            raise Skip("no node here")
        desk = Desk(host)
        try:
            call = desk.ask(command)
            question = desk.person.open()
            if not question:
                return None if "error" in json.dumps(desk.client.answer(call)) else "nobody was asked"
            change(desk.place / name, desk.evil(name))
            desk.person.answer(question)
            desk.client.answer(call)
            return "what was not approved ran outside" if desk.mark.exists() else None
        finally:
            desk.close()

    return Probe(FAMILY, f"{command!r} changed {change.__name__} while a person reads it", look)


def again(command, name, change):
    """A file is changed after it was allowed for the session."""

    def look(host):
        desk = Desk(host)
        try:
            call = desk.ask(command)
            question = desk.person.open()
            if not question:
                return "nobody was asked"
            desk.person.answer(question, "--session")
            desk.client.answer(call)
            change(desk.place / name, desk.evil(name))
            call = desk.ask(command)
            question = desk.person.open(0.7)
            if question:
                desk.person.answer(question, "deny")
            desk.client.answer(call)
            return "ran outside without a question" if desk.mark.exists() else None
        finally:
            desk.close()

    return Probe(FAMILY, f"{command!r} changed {change.__name__} after it was allowed for the session", look)


def unchanged(host):
    """What was approved and did not change runs; else none of these probes says anything."""
    desk = Desk(host)
    try:
        (desk.place / "deploy.sh").write_text(desk.evil("deploy.sh"))
        call = desk.ask("./deploy.sh")
        question = desk.person.open()
        if question:
            desk.person.answer(question)
        said = desk.client.answer(call)
        return None if desk.mark.exists() else f"(control) what was approved does not run: {said}"
    finally:
        desk.close()


def cases(_host):
    changes = (by_rename, by_link, append, same_time)
    yield Probe(FAMILY, "control: what did not change runs", unchanged)
    for command, name in ASKED:
        yield swapped(command, name, in_place)
    for change in changes:
        for command, name in ASKED[:5]:
            yield swapped(command, name, change)
    for command, name in (("sub/deploy.sh", "sub/deploy.sh"), ("cd sub && ./deploy.sh", "sub/deploy.sh"), ("bash sub/deploy.sh", "sub/deploy.sh")):
        yield swapped(command, name, by_directory)
    for command, name in ASKED[:12]:
        yield again(command, name, in_place)
    for change in changes:
        yield again("./deploy.sh", "deploy.sh", change)
