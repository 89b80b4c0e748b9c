"""H6: a confined command that has the host's network has its server do what it may not do."""

import json

from harness.calls import raw_text
from harness.case import Probe
from harness.listener import deputy, listening
from harness.servers import Client

FAMILY = "H6 deputy"

READ_ONLY = """
policy.allowed_commands = ["*"]
approvals.local = false

[[rule]]
pattern = ["python3"]
decision = "allow"
profile = "read-only"
"""
OPEN_NETWORK = READ_ONLY.replace("[[rule]]", '[sandbox]\nnetwork = "on"\n\n[[rule]]')
FULL = 'policy.allowed_commands = ["*"]\napprovals.local = false\nsandbox.profile = "full-access"\n'
KEEPER = OPEN_NETWORK.replace("[sandbox]", '[process]\ncontainment = "keeper"\n\n[sandbox]')
NAMESPACE = OPEN_NETWORK.replace("[sandbox]", '[process]\ncontainment = "namespace"\n\n[sandbox]')


def by(server, door, words, place):
    """What a door says when it runs these words."""
    if door == "raw":
        return raw_text(server.raw({"executable": words[0], "args": words[1:], "cwd": str(place)})[2])
    client = Client(server)
    if door in ("run_network_tool", "execute_process"):
        first = "executable" if door == "run_network_tool" else "file"
        return json.dumps(client.call(door, {first: words[0], "args": words[1:], "cwd": str(place)}))
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
    given = {"exec_command": {"cmd": line, "workdir": str(place), "login": False, "yield_time_ms": 5000},
             "shell": {"command": line, "working_directory": str(place)},
             "execute_command": {"command": line, "cwd": str(place)}}
    return json.dumps(client.call(door, given[door]))


def tried(name, settings, door, path, how="plain", place_of="127.0.0.1", arguments=()):
    def look(host):
        place, other = host.place("inside"), host.place("other")
        mark = other / "mark"
        server = listening(host, settings, place, arguments)
        try:
            address = server.address.replace("127.0.0.1", place_of)
            said = by(server, door, deputy(address, path, mark, how), place)
            if mark.exists():
                return "the server made it elsewhere"
            if "CHECKED" in said:
                return "the server judged for it"
            return None if any(word in said for word in ("FAILED", "refused", "denied", "exit")) else f"(control) {said[:200]}"
        finally:
            server.close()

    return Probe(FAMILY, f"{name}, {door}, {path} by {how} at {place_of}", look)


def cases(_host):
    for path in ("/raw", "/mcp", "/modern", "/check", "/raw-detached"):
        for door in ("run_network_tool", "raw"):
            yield tried("read-only", READ_ONLY, door, path)
    for how in ("setsid", "daemon", "passed", "namespace"):
        for settings, name in ((READ_ONLY, "read-only"), (FULL, "full-access")):
            yield tried(name, settings, "run_network_tool", "/raw", how)
    for place in ("localhost", "127.1", "0.0.0.0", "[::ffff:127.0.0.1]"):
        yield tried("read-only", READ_ONLY, "run_network_tool", "/raw", "plain", place)
    for door in ("shell", "execute_command", "exec_command", "execute_process"):
        yield tried("network on", OPEN_NETWORK, door, "/raw")
    for settings, name in ((KEEPER, "keeper"), (NAMESPACE, "namespace")):
        for how in ("plain", "daemon"):
            yield tried(f"network on, {name}", settings, "shell", "/raw", how)
            yield tried(f"network on, {name}", settings, "raw", "/mcp", how)
    tools = ("--tools", "run_network_tool")
    yield tried("--tools", READ_ONLY, "run_network_tool", "/raw", arguments=tools)
    yield tried("--tools", READ_ONLY, "run_network_tool", "/check", arguments=tools)
