"""M16: web pages that are not the listener's own, other hosts, other kinds of body."""

import json
import threading

from harness.case import Probe
from harness.listener import listening
from harness.wire import head, sent, status

FAMILY = "M16 origins"

SETTINGS = 'policy.allowed_commands = ["*"]\napprovals.local = false\n'

ORIGINS = ["http://localhost:1", "https://127.0.0.1", "http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000", "null",
           "http://127.0.0.1", "https://127.0.0.1:@P", "https://localhost:@P", "http://127.0.0.2:@P", "http://127.0.0.1:@P.evil.test",
           "http://127.0.0.1.evil.test:@P", "http://evil.test", "http://evil.test:@P", "http://127.0.0.1:@P@evil.test",
           "http://user@127.0.0.1:@P", "http://127.0.0.1:@P/x", "file://", "chrome-extension://x", "",
           "http://2130706433:@P", "http://0x7f.1:@P", "http://127.1:@P", "http://0:@P", "http://0.0.0.0:@P", "http://[::]:@P",
           "http://[::ffff:127.0.0.1]:@P", "http://localhost.:@P", "http://sub.localhost:@P", "http://localhost.evil.test:@P",
           "http://127.0.0.1:@P0", "ws://127.0.0.1:@P", "HTTP://EVIL:@P", "http://127.0.0.1:@P, http://evil.test",
           "http://evil.test http://127.0.0.1:@P", "about:blank", "data:", "moz-extension://1", "http://127.0.0.1\t:@P", "http://"]

HOSTS = ["evil.test", "evil.test:@P", "127.0.0.1.evil.test:@P", "localhost.evil.test", "127.0.0.1:@P@evil.test", "[::ffff:1.2.3.4]:@P",
         "127.0.0.1:@P, evil.test", "", "evil.test#127.0.0.1", "evil.test\\127.0.0.1", "127.0.0.1:@P.", "localhost.:@P.x", "9.9.9.9:@P",
         "0.0.0.0.evil:@P", "xn--localhost-:@P", "a.localhost.evil:@P", "127.0.0.1:x", "127.0.0.1:99999", "/127.0.0.1"]

KINDS = ["text/plain", "text/plain;charset=utf-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None, "",
         "application/octet-stream", "text/json", "application/jsonp", "application/json-evil", "text/plain; application/json",
         "text/plain, application/json", "image/png", "application/javascript", "text/html", "*/*"]

shared, lock = {}, threading.Lock()


def server_of(host):
    """One for all of them; it ends with the program."""
    with lock:
        if host.name not in shared:
            place = host.place("origins")
            shared[host.name] = (listening(host, SETTINGS, place), place)
        return shared[host.name]


def posted(name, path, target=None, body=None, **headers):
    def look(host):
        server, place = server_of(host)
        given = {key: value and value.replace("@P", str(server.port)) for key, value in headers.items()}
        wanted = body or json.dumps({"executable": "true", "cwd": str(place)})
        if path == "/mcp":
            wanted = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "page", "version": "1"}}})
            given.setdefault("Accept", "application/json, text/event-stream")
        own = given.pop("Host", server.address)
        where = (target or path).replace("@P", str(server.port))
        answer = sent(server, head("POST", where, own, wanted, **given), 5)
        return f"answered {status(answer)}" if status(answer) == 200 else None

    return Probe(FAMILY, f"{path} {name}", look)


def accepted(host):
    """The listener's own page, and no page at all, are let in; else these probes say nothing."""
    server, place = server_of(host)
    body = json.dumps({"executable": "true", "cwd": str(place)})
    for more in ({}, {"Origin": f"http://{server.address}"}):
        answer = sent(server, head("POST", "/raw", server.address, body, **more))
        if status(answer) != 200:
            return f"(control) its own is not let in: {more} {answer[:100]}"
    return None


def cases(host):
    yield Probe(FAMILY, "control: its own page is let in", accepted)
    for path in ("/raw", "/check", "/mcp"):
        for origin in ORIGINS if path != "/check" else ORIGINS[:8]:
            yield posted(f"Origin {origin!r}", path, Origin=origin)
        for name in HOSTS if path != "/check" else HOSTS[:6]:
            yield posted(f"Host {name!r}", path, Host=name)
        for kind in KINDS:
            yield posted(f"Content-Type {kind!r}", path, Content_Type=kind)
        for target in (f"http://evil.test{path}", f"http://evil.test:@P{path}", f"http://127.0.0.1.evil.test{path}",
                       f"http://127.0.0.1:@P@evil.test{path}", f"http://localhost.evil:@P{path}", f"//evil.test{path}"):
            yield posted(f"target {target!r}", path, target)
    for more in ({"Sec_Fetch_Site": "cross-site", "Origin": "http://evil.test"}, {"Referer": "http://evil.test/", "Origin": "null"}):
        yield posted(f"with {more}", "/raw", **more)
