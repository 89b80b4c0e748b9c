"""M13: what the asking agent answers itself."""

import json
import time

from harness.case import Probe
from harness.host import USUAL
from harness.people import Person
from harness.servers import Stdio

FAMILY = "M13 answered by itself"

SETTINGS = """
policy.allowed_commands = ["*"]
sandbox.profile = "{profile}"

[process]
containment = "{containment}"

[[rule]]
pattern = ["touch"]
decision = "ask"
"""

def answers(host, state, config, number):
    """Lines that answer the question; each is a kind of process that does."""
    own = f"env XDG_STATE_HOME={state} RUNWARD_CONFIG={config} HOME={host.home} PATH={USUAL} {host.binary} approvals"
    allow = f"{own} allow {number}"
    return {"a plain child": allow, "a background job": f"({allow} &) ; sleep 1", "setsid": f"setsid -w {allow}",
            "a daemon": f"setsid sh -c '{allow} &' & sleep 1", "a nohup'd one": f"nohup {allow} & sleep 1",
            "the session": f"{allow} --session", "python": f"/usr/bin/python3 -c 'import os; os.system(\"{allow}\")'",
            "double fork": f"/usr/bin/python3 -c 'import os,time; os.fork() and time.sleep(1) or os.setsid() or os.fork() or "
                           f"os.system(\"{allow}\")'",
            "a user namespace": f"unshare -r {allow}", "a process namespace": f"unshare -rpf {allow}",
            "a link to the program": f"ln -sf {host.binary} rw; {allow.replace(host.binary, './rw')}",
            "a copy of the program": f"cp {host.binary} rw2; {allow.replace(host.binary, './rw2')}",
            "script": f"script -qc '{allow}' /dev/null"}


def tried(kind, door, profile="full-access", containment="auto"):
    def look(host):
        place, state = host.place("selfanswered"), host.place("state")
        config = host.write(f"{place}.toml", SETTINGS.format(profile=profile, containment=containment))
        env = host.env(state, config)
        client = Stdio(host, env, str(place))
        try:
            asked = client.begin("tools/call", {"name": "execute_process", "arguments": {"file": "touch", "args": ["mark"], "cwd": str(place)}})
            person = Person(host, env, place)
            question = person.open()
            if not question:
                return f"(control) nobody was asked: {json.dumps(client.answer(asked))[:200]}"
            line = answers(host, state, config, question["id"])[kind]
            # In a program of its own, since what is asked about has every line read.
            host.write(place / "answer", f"#!/bin/sh\ncd {place}\n{line}\n", 0o755)
            line = "./answer"
            given = {"exec_command": {"cmd": line, "login": False, "workdir": str(place), "yield_time_ms": 5000},
                     "shell": {"command": line, "working_directory": str(place), "timeout": 6},
                     "execute_process": {"file": "sh", "args": ["-c", line], "cwd": str(place)},
                     "run_network_tool": {"executable": "sh", "args": ["-c", line], "cwd": str(place)}}[door]
            said = client.call(door, given)
            end = time.monotonic() + 0.6
            while time.monotonic() < end and not (place / "mark").exists():
                time.sleep(0.05)
            if (place / "mark").exists():
                return "the agent answered its own question"
            still = person.open(1)
            return None if still else f"the question is gone: {json.dumps(said)[:300]}"
        finally:
            client.close()

    return Probe(FAMILY, f"{kind} by {door}, {profile}, {containment}", look, waits=True)


def cases(host):
    kinds = tuple(answers(host, "", "", ""))
    for kind in kinds:
        yield tried(kind, "shell")
    for door in ("exec_command", "execute_process", "run_network_tool"):
        yield tried("a plain child", door)
    for containment in ("cgroup", "namespace", "keeper") if host.uid == 0 else ("namespace", "keeper"):
        for kind in ("a plain child", "a daemon", "double fork"):
            yield tried(kind, "shell", containment=containment)
    for kind in kinds[:4]:
        yield tried(kind, "shell", "workspace-write")
