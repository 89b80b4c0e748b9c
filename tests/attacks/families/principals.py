"""M14: what one client over HTTP does with another's sessions, outputs and keys."""

import json
import re

from harness.case import Probe
from harness.listener import listening
from harness.servers import Client

FAMILY = "M14 principals"

SETTINGS = 'policy.allowed_commands = ["*"]\napprovals.local = false\n'
SECRET = "psst-4711"


def pair(name, act, token=None):
    """A has a session that knows a secret; B acts."""

    def look(host):
        place = host.place("principals")
        env = {"RUNWARD_TOKEN": token} if token else {}
        server = listening(host, SETTINGS, place, **env)
        try:
            one, two = Client(server, token), Client(server, token)
            begun = one.call("exec_command", {"cmd": f"echo {SECRET}; cat", "stdin": "pipe", "login": False, "yield_time_ms": 600})
            text = json.dumps(begun)
            number = re.search(r"session ID (\w+)", text)
            output = re.search(r'output_id\W+([\w-]+)', text)
            if not number:
                return f"(control) no session: {text[:300]}"
            return act(server, one, two, number.group(1), output.group(1) if output else "", place)
        finally:
            server.close()

    return Probe(FAMILY, name + (" with one token" if token else ""), look, waits=True)


def says(client, tool, given, what=SECRET):
    """Whether the answer holds what it should not."""
    text = json.dumps(client.call(tool, given))
    return f"{tool} told it: {text[:160]}" if what in text else None


def own(client):
    """The headers that show its token, if it has one."""
    return {name: value for name, value in client.headers.items() if name == "Authorization"}


def number(text):
    return int(text) if text.isdigit() else text


def lists(_server, _one, two, session, _output, _place):
    return says(two, "list_sessions", {}, "cat") or says(two, "list_sessions", {}, f'"session_id": {session}')


def reads(_server, _one, two, session, _output, _place):
    return says(two, "read_session", {"session_id": number(session), "since": 0})


def screens(_server, _one, two, session, _output, _place):
    return says(two, "read_session", {"session_id": number(session), "screen": True})


def waits(_server, _one, two, session, _output, _place):
    return says(two, "write_stdin", {"session_id": number(session), "chars": ""})


def types(_server, one, two, session, _output, _place):
    two.call("write_stdin", {"session_id": number(session), "chars": "typed-by-two\n"})
    return says(one, "read_session", {"session_id": number(session), "since": 0}, "typed-by-two")


def is_gone(one, session):
    text = json.dumps(one.call("write_stdin", {"session_id": number(session), "chars": "still\n", "yield_time_ms": 500}))
    return None if "still" in text and "isError\": true" not in text else f"it is gone: {text[:200]}"


def kills(_server, one, two, session, _output, _place):
    two.call("kill_session", {"session_id": number(session)})
    return is_gone(one, session)


def signals(_server, one, two, session, _output, _place):
    two.call("write_stdin", {"session_id": number(session), "signal": "INT"})
    return is_gone(one, session)


def closes(_server, one, two, session, _output, _place):
    two.call("write_stdin", {"session_id": number(session), "close_stdin": True})
    return is_gone(one, session)


def reads_output(_server, _one, two, _session, output, _place):
    return says(two, "read_output", {"output_id": output})


def pages_output(_server, _one, two, _session, output, _place):
    return says(two, "read_output", {"output_id": output, "grep": "psst"})


def takes_output(_server, _one, two, _session, output, place):
    ended = {"command": "cat", "cwd": str(place), "input_from": output}
    return says(two, "execute_command", ended)


def takes_ended_output(_server, one, two, _session, _output, place):
    done = json.dumps(one.call("execute_command", {"command": f"echo {SECRET}", "cwd": str(place)}))
    output = re.search(r'output_id\W+([\w-]+)', done)
    if not output:
        return f"(control) no output_id: {done[:200]}"
    output = output.group(1)
    return says(two, "execute_command", {"command": "cat", "cwd": str(place), "input_from": output}) \
        or says(two, "read_output", {"output_id": output})


def conditions(_server, one, two, _session, _output, place):
    done = json.dumps(one.call("execute_command", {"command": "true", "cwd": str(place)}))
    output = re.search(r'output_id\W+([\w-]+)', done).group(1)
    given = {"command": "echo learnt", "cwd": str(place), "only_if": {"output_id": output, "exit_code": 0}}
    return says(two, "execute_command", given, "stdout: |\\n  learnt")


def shares_key(_server, one, two, _session, _output, place):
    given = {"command": "echo ran >> count; wc -l < count", "cwd": str(place), "request_key": "k"}
    one.call("execute_command", given)
    two.call("execute_command", given)
    count = (place / "count").read_text().count("ran")
    return None if count == 2 else "its run was taken for the other's"


def shares_key_of_session(_server, one, two, _session, _output, place):
    given = {"cmd": f"echo {SECRET}; sleep 3", "workdir": str(place), "login": False, "yield_time_ms": 400, "request_key": "s"}
    one.call("exec_command", given)
    (place / "count").write_text("")
    first = json.dumps(one.call("exec_command", given))
    second = json.dumps(two.call("exec_command", given))
    ids = [re.search(r"session ID (\w+)", text) for text in (first, second)]
    same = ids[0] and ids[1] and ids[0].group(1) == ids[1].group(1)
    return "it was attached to the other's session" if same else None


def unknown_alike(_server, _one, two, session, _output, _place):
    """Another's number answers as one that never was."""
    def told(value):
        text = json.dumps(two.call("read_session", {"session_id": value}))
        return re.sub(r"\d+", "N", re.sub(r'"id": \d+', "", text))
    a, b = told(number(session)), told(987654)
    return None if a == b else f"another's id is told from none: {a[:150]} | {b[:150]}"


def raw_ids(server, one, _two, _session, _output, place):
    """Who starts sees an id that nobody guesses: 128 bits."""
    _, _, text = server.raw({"executable": "true", "cwd": str(place)}, own(one))
    found = json.loads(text.splitlines()[0]).get("session", "")
    return None if len(found) >= 32 else f"{len(found) * 4} bits: {found}"


def raw_lists(server, _one, two, _session, _output, _place):
    status, _, text = server.request("GET", "/raw", None, own(two))
    return None if status in (404, 405, 401, 403) else f"{status} {text[:100]}"


def raw_sees_mcp(server, _one, two, session, output, _place):
    for name in (session, output, "1", "2"):
        status, _, text = server.request("GET", f"/raw/{name}?from=0", None, own(two), patience=4)
        if status == 200:
            return f"/raw/{name}: {text[:100]}"
    return None


def mcp_sees_raw(server, _one, two, _session, _output, place):
    _, _, text = server.raw({"executable": "sh", "args": ["-c", f"echo {SECRET}; sleep 2"], "detach": True, "cwd": str(place)},
                              own(two))
    found = re.search(r'"session":"(\w+)"', text)
    return says(two, "list_sessions", {}, found.group(1)) if found else None


def cases(_host):
    acts = (lists, reads, screens, waits, types, kills, signals, closes, reads_output, pages_output, takes_output, takes_ended_output,
            conditions, shares_key, shares_key_of_session, unknown_alike, raw_ids, raw_lists, raw_sees_mcp, mcp_sees_raw)
    for act in acts:
        yield pair(act.__name__.replace("_", " "), act)
        yield pair(act.__name__.replace("_", " "), act, "one-token-for-all")
