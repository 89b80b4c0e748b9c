"""How a case is put to each door."""

import base64
import json

LIMIT = 4000  # milliseconds for a command


def arguments(door, what, cwd, env, more):
    """What the tool of this name is called with."""
    if door == "execute_command":
        given = {"command": what, "cwd": cwd, "timeout_ms": LIMIT}
    elif door == "shell":
        given = {"command": what, "working_directory": cwd, "timeout": LIMIT // 1000}
        given |= {"environment": env} if env else {}
    elif door == "exec_command":
        given = {"cmd": what, "workdir": cwd, "yield_time_ms": LIMIT}
    elif door == "execute_process":
        given = {"file": what[0], "args": what[1:], "cwd": cwd, "timeout_ms": LIMIT}
    else:
        given = {"executable": what[0], "args": what[1:], "cwd": cwd, "timeout_ms": LIMIT}
        given |= {"env": env} if env else {}
    return given | more


def filled(value, places):
    """The same with @M, @W and the like replaced, however deep."""
    if isinstance(value, str):
        for name, place in places.items():
            value = value.replace(name, place)
        return value
    if isinstance(value, (list, tuple)):
        return [filled(item, places) for item in value]
    if isinstance(value, dict):
        return {filled(key, places): filled(item, places) for key, item in value.items()}
    return value


def raw_text(body):
    """What an answer of /raw says: its output, and its events as they are."""
    said = [body]
    for line in body.splitlines():
        try:
            said.append(base64.b64decode(json.loads(line).get("data_b64", "")).decode("utf-8", "replace"))
        except (ValueError, AttributeError):
            continue
    return "\n".join(said)
