"""M17: bodies that cost many times what they weigh; L8, L9, L10: floods, keys twice, limits."""

import json
import os
import resource
import subprocess
import threading
import time

from harness.case import Probe
from harness.listener import listening
from harness.servers import Client, Serve, Stdio
from harness.wire import head, sent, status

FAMILY = "M17 large"
TWICE = "L9 keys twice"
FLOOD = "L8 floods"

SETTINGS = 'policy.allowed_commands = ["*"]\napprovals.local = false\n'


def refused(name, path, body):
    """Whether it is refused as the caller's fault: 4xx, and nothing runs."""

    def look(host):
        place = host.place("large")
        server = listening(host, SETTINGS, place)
        try:
            code, _, text = server.request("POST", path, body)
            return None if 400 <= code < 500 else f"{code}: {text[:160]}"
        finally:
            server.close()

    return Probe(FAMILY, f"{path}: {name}", look)


def refused_by_tool(name, tool, given):
    def look(host):
        place = host.place("large")
        client = Stdio(host, host.env(host.place("state"), host.write(f"{place}.toml", SETTINGS)), str(place))
        try:
            text = json.dumps(client.call(tool, given))
            is_refused = '"isError": true' in text or '"error"' in text
            if not is_refused:
                return f"runs: {text[:160]}"
            return "refused by the kernel only" if "too long" in text and "4096" not in text and "128" not in text else None
        finally:
            client.close()

    return Probe(FAMILY, f"{tool}: {name}", look)


def costly(name, body, allowed=True):
    """Six at once: what they cost in memory, for others' waiting, and in the trail."""

    def look(host):
        place, state = host.place("costly"), host.place("state")
        settings = SETTINGS if allowed else SETTINGS.replace('"*"', '"ls"')
        server = Serve(host, host.env(state, host.write(f"{place}.toml", settings)), str(place))
        try:
            text = json.dumps(body, separators=(",", ":"))
            several = [threading.Thread(target=lambda: attempt(server, text)) for _ in range(6)]
            for thread in several:
                thread.start()
            time.sleep(0.15)
            server.raw({"executable": "ls" if not allowed else "true", "cwd": str(place)})
            for thread in several:
                thread.join()
            size = sum(entry.stat().st_size for entry in state.rglob("audit.db*"))
            peak = next(int(line.split()[1]) for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmHWM")) // 1024
            problems = [f"{peak} MB of memory"] if peak > 500 else []
            problems += [f"{size >> 20} MB of trail"] if size > 12 << 20 else []
            return ", ".join(problems) or None
        finally:
            server.close()

    return Probe(FAMILY, f"six at once: {name}", look)


def attempt(server, text):
    try:
        server.request("POST", "/raw", text)
    except OSError:
        pass


def twice(name, path, body, is_refused=lambda code, text: 400 <= code < 500 or '"error"' in text):
    def look(host):
        place = host.place("twice")
        server = listening(host, SETTINGS, place)
        try:
            client = Client(server)
            headers = client.headers if path == "/mcp" else {}
            code, _, text = server.request("POST", path, body.replace("@W", str(place)), headers)
            return None if is_refused(code, text) else f"{code}: {text[:160]}"
        finally:
            server.close()

    return Probe(TWICE, f"{path}: {name}", look)


TWICES = [("executable", "/raw", '{"executable":"true","executable":"id","cwd":"@W"}'),
          ("args", "/raw", '{"executable":"echo","args":["a"],"args":["b"],"cwd":"@W"}'),
          ("cwd", "/raw", '{"executable":"true","cwd":"@W","cwd":"/"}'),
          ("env", "/raw", '{"executable":"true","cwd":"@W","env":{"A":"1"},"env":{"B":"2"}}'),
          ("a variable", "/raw", '{"executable":"true","cwd":"@W","env":{"A":"1","A":"2"}}'),
          ("escaped", "/raw", '{"executable":"true","\\u0065xecutable":"id","cwd":"@W"}'),
          ("timeout", "/raw", '{"executable":"true","timeout_ms":1000,"timeout_ms":900,"cwd":"@W"}'),
          ("tty", "/raw", '{"executable":"true","tty":{"rows":1,"cols":2,"rows":3},"cwd":"@W"}'),
          ("executable", "/check", '{"executable":"true","executable":"id","cwd":"@W"}'),
          ("a variable", "/check", '{"executable":"true","cwd":"@W","env":{"A":"1","A":"2"}}'),
          ("command", "/mcp", '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"true","command":"id"}}}'),
          ("tool", "/mcp", '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"execute_command","name":"shell","arguments":{"command":"id"}}}'),
          ("arguments", "/mcp", '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"shell","arguments":{"command":"id"},"arguments":{"command":"ls"}}}'),
          ("method", "/mcp", '{"jsonrpc":"2.0","id":9,"method":"ping","method":"tools/call","params":{"name":"shell","arguments":{"command":"id"}}}'),
          ("a variable", "/mcp", '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"shell","arguments":{"command":"id","environment":{"A":"1","A":"2"}}}}')]


def flood(count, keep_alive):
    """Whether a session that was used survives others' beginnings."""

    def look(host):
        place = host.place("flood")
        server = listening(host, SETTINGS, place)
        try:
            client = Client(server)
            client.call("execute_command", {"command": "true", "cwd": str(place)})
            hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}})

            def many():
                for _ in range(count // 6):
                    try:
                        sent(server, head("POST", "/mcp", server.address, hello, Accept="application/json, text/event-stream"), 5)
                    except OSError:
                        pass
            several = [threading.Thread(target=many) for _ in range(6)]
            for thread in several:
                thread.start()
            for thread in several:
                thread.join()
            text = json.dumps(client.call("execute_command", {"command": "printf %s-%s al ive", "cwd": str(place)}))
            return None if "al-ive" in text else f"its session is gone: {text[:200]}"
        finally:
            server.close()

    return Probe(FLOOD, f"{count} beginnings", look)


def few_processes(host):
    """L10: a limit on processes that the server itself is under does not end it without a word."""
    place, alone = host.place("few"), ["setpriv", "--reuid=54330", "--regid=54330", "--clear-groups", "--"]
    for path in (place, host.place("state")):
        os.chown(path, 54330, 54330)
    env = host.env(path, host.write(f"{place}.toml", SETTINGS))
    limit = lambda: resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}
    call = {"name": "execute_process", "arguments": {"file": "true", "cwd": str(place)}}
    asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, {"jsonrpc": "2.0", "method": "notifications/initialized"},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}]
    process = subprocess.Popen([*alone, host.binary, "stdio"], env=env, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, preexec_fn=limit)
    try:
        process.stdin.write("".join(json.dumps(one) + "\n" for one in asked))
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in range(2)]
        process.stdin.close()
        process.wait(15)
        errors = process.stderr.read()
        return None if '"id":2' in "".join(answers) or errors.strip() else "it ended without a word"
    except OSError:
        return None if process.stderr.read().strip() else "it ended without a word"
    finally:
        process.kill()
        process.wait()


def cases(host):
    many = {"executable": "echo", "args": [""] * 1_390_000}
    for path in ("/raw", "/check"):
        yield refused("4,097 arguments", path, {"executable": "true", "args": ["a"] * 4097})
        yield refused("5,000 empty arguments", path, {"executable": "true", "args": [""] * 5000})
        yield refused("an argument of 128 KiB and one", path, {"executable": "true", "args": ["a" * (128 * 1024 + 1)]})
        yield refused("a program of 200 KiB", path, {"executable": "a" * 200_000})
        yield refused("a directory of 200 KiB", path, {"executable": "true", "cwd": "/" + "a" * 200_000})
        yield refused("a variable of 200 KiB", path, {"executable": "true", "env": {"A": "a" * 200_000}})
        yield refused("a variable's name of 200 KiB", path, {"executable": "true", "env": {"A" * 200_000: "a"}})
        yield refused("50,000 variables", path, {"executable": "true", "env": {f"A{i}": "" for i in range(50_000)}})
        yield refused("1.39 M arguments", path, many)
        yield refused("depth", path, "[" * 100_000)
        yield refused("depth in args", path, '{"executable":"true","args":' + "[" * 100_000)
    yield refused_by_tool("5,000 arguments", "execute_process", {"file": "true", "args": ["a"] * 5000})
    yield refused_by_tool("a long argument", "execute_process", {"file": "true", "args": ["a" * 140_000]})
    yield refused_by_tool("5,000 arguments", "run_network_tool", {"executable": "true", "args": ["a"] * 5000})
    yield refused_by_tool("50,000 variables", "shell", {"command": "true", "environment": {f"A{i}": "" for i in range(50_000)}})
    yield refused_by_tool("a long variable", "shell", {"command": "true", "environment": {"A": "a" * 200_000}})
    yield costly("empty arguments", many)
    yield costly("empty arguments, not allowed", many, False)
    yield costly("one long argument", {"executable": "true", "args": ["a" * 4_000_000]})
    yield costly("many variables", {"executable": "true", "env": {f"A{i}": "" for i in range(280_000)}})
    yield costly("a long program", {"executable": "a" * 4_000_000}, False)
    for name, path, body in TWICES:
        yield twice(name, path, body)
    yield flood(600, False)
    yield flood(1500, False)
    if os.geteuid() == 0 and host.uid == 0:
        yield Probe("L10 few processes", "a server that may have two processes", few_processes)
