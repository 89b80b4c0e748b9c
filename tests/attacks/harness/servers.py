"""The real program: `runward stdio` and `runward serve`, and clients that send what they are told to."""

import http.client
import json
import os
import queue
import signal
import subprocess
import threading

PATIENCE = 30

# Every server that was started, for the end: a probe may fail before it can end its own.
STARTED = []


def leave(process):
    """Ends a process that this program started, and waits for its end."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(8)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait(8)


def started(host, arguments, env, cwd, **more):
    command = host.as_user([host.binary, *arguments])
    process = subprocess.Popen(command, env=env, cwd=cwd, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE, **more)
    STARTED.append(process)
    return process


def leave_all():
    for process in STARTED:
        leave(process)


class Stdio:
    """A client over standard input and output."""

    def __init__(self, host, env, cwd, arguments=(), capabilities=None):
        self.process = started(host, ["stdio", *arguments], env, cwd, stdin=subprocess.PIPE)
        self.answers, self.asked, self.last, self.lock = {}, queue.Queue(), 0, threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        hello = {"protocolVersion": "2025-11-25", "capabilities": capabilities or {}}
        self.ask("initialize", hello | {"clientInfo": {"name": "attacker", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message:
                self.asked.put(message)
                continue
            with self.lock:
                self.answers[message.get("id")] = message
                self.lock.notify_all()
        with self.lock:
            self.answers[None] = {"error": "the server ended"}
            self.lock.notify_all()

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method, params):
        with self.lock:
            self.last += 1
            number = self.last
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def answer(self, number, patience=PATIENCE):
        with self.lock:
            self.lock.wait_for(lambda: number in self.answers or None in self.answers, patience)
            return self.answers.get(number) or self.answers.get(None) or {"error": "no answer in time"}

    def ask(self, method, params, patience=PATIENCE):
        return self.answer(self.begin(method, params), patience)

    def call(self, tool, given, patience=PATIENCE):
        return self.ask("tools/call", {"name": tool, "arguments": given}, patience)

    def close(self):
        try:
            self.process.stdin.close()
            self.process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            pass
        leave(self.process)


class Serve:
    """A server that listens on a free port of the loopback."""

    def __init__(self, host, env, cwd, arguments=(), bind="127.0.0.1:0", **more):
        self.process = started(host, ["serve", "--bind", bind, *arguments], env, cwd, stdin=subprocess.DEVNULL, **more)
        line = self.process.stdout.readline().decode().strip()
        self.address = line.removeprefix("listening on http://")
        if self.address == line:
            leave(self.process)
            raise RuntimeError(f"the server does not start: {line!r}")
        self.host, port = self.address.rsplit(":", 1)
        self.port = int(port)

    def request(self, method, path, body=None, headers=None, patience=PATIENCE):
        """The status, the headers and the text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            text = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body, separators=(",", ":"))
            given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
            try:
                connection.request(method, path, text, given | (headers or {}))
            except (BrokenPipeError, ConnectionResetError):
                pass  # It may have answered before it read everything.
            try:
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException):
                return 499, {}, "the connection was closed"
            return answer.status, dict(answer.getheaders()), answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def raw(self, body, headers=None):
        return self.request("POST", "/raw", body, headers)

    def close(self):
        leave(self.process)


class Client:
    """A client of MCP over HTTP, with a session of its own."""

    def __init__(self, server, token=None):
        self.server, self.last = server, 0
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        status, headers, text = self.post("initialize", hello)
        found = {name.lower(): value for name, value in headers.items()}
        self.session = found.get("mcp-session-id")
        if not self.session:
            raise RuntimeError(f"no session: {status} {text}")
        self.headers |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"}
        server.request("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.headers)

    def post(self, method, params):
        self.last += 1
        body = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        return self.server.request("POST", "/mcp", body, self.headers)

    def call(self, tool, given):
        """The answer as JSON, whichever way it was sent."""
        status, _, text = self.post("tools/call", {"name": tool, "arguments": given})
        for line in reversed(text.splitlines()):
            line = line.removeprefix("data:").strip()
            if line.startswith("{"):
                return json.loads(line)
        return {"error": f"{status} {text}"}
