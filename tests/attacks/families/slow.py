"""M15: connections that say nothing, or too little, hold everybody else up."""

import json
import resource
import socket
import time

from harness.case import Probe
from harness.listener import listening
from harness.servers import Client
from harness.wire import head, open_socket, said, status

FAMILY = "M15 slow"

SETTINGS = 'policy.allowed_commands = ["*"]\napprovals.local = false\n'
TOKEN = "the-token-of-its-holder"


def is_closed(held, seconds, drip=None):
    """Whether the other end gives up within this time, while it is given a byte now and then."""
    end = time.monotonic() + seconds
    held.settimeout(0.5)
    while time.monotonic() < end:
        try:
            if drip:
                held.sendall(drip)
            if held.recv(4096) == b"":
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def held_open(name, first, seconds, drip=None, token=TOKEN):
    def look(host):
        place = host.place("slow")
        server = listening(host, SETTINGS, place, **({"RUNWARD_TOKEN": token} if token else {}))
        try:
            several = [open_socket(server) for _ in range(8)]
            for held in several:
                if first:
                    held.sendall(first.replace("@H", server.address).encode())
            end = time.monotonic() + seconds
            still = sum(not is_closed(held, max(end - time.monotonic(), 0.6), drip) for held in several)
            return f"{still} of 8 are open after {seconds} s" if still else None
        finally:
            server.close()

    return Probe(FAMILY, name, look, waits=True)


def shut_out(name, first, count=300, limit=256, token=TOKEN, after=None):
    """Whether a holder of the token is answered while so many others hold connections below a limit on descriptors."""

    def look(host):
        place = host.place("crowd")
        crowd, server = [], None
        try:
            config = host.write(f"{place}.toml", SETTINGS)
            env = host.env(host.place("state"), config, RUNWARD_TOKEN=token)
            from harness.servers import Serve
            limits = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            server = Serve(host, env, str(place), preexec_fn=limits)
            client = Client(server, token)
            before = json.dumps(client.call("execute_command", {"command": "true", "cwd": str(place)}))
            for _ in range(count):
                try:
                    held = socket.create_connection(("127.0.0.1", server.port), 1)
                    if first:
                        held.sendall(first.replace("@H", server.address).encode())
                    crowd.append(held)
                except OSError:
                    break
            try:
                answer = json.dumps(client.call("execute_command", {"command": "echo al''ive", "cwd": str(place)}))
            except OSError as error:
                return f"its holder gets no answer: {error}"
            if "alive" not in answer:
                return f"its holder is told: {answer[:200]} (before: {before[-60:]})"
            try:
                status_of, _, _ = server.request("GET", "/healthz", patience=8)
            except OSError as error:
                return f"nobody new gets in: {error}"
            return None if status_of == 200 else f"a new one gets {status_of}"
        finally:
            for held in crowd:
                held.close()
            if server:
                server.close()

    return Probe(FAMILY, name, look)


HALF = "POST /raw HTTP/1.1\r\nHost: @H\r\n"
BODY = "POST /raw HTTP/1.1\r\nHost: @H\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"


def cases(_host):
    yield held_open("heads that do not end", HALF, 20)
    yield held_open("heads that do not end, a byte at a time", HALF, 20, b"X")
    yield held_open("heads that never begin", "", 75)
    yield held_open("heads that never begin, without a token", "", 75, token=None)
    yield held_open("a line at a time", HALF, 20, b"X-A: b\r\n")
    yield held_open("bodies that do not come, with a token", BODY + f"Authorization: Bearer {TOKEN}\r\n\r\n{{", 45)
    yield held_open("bodies that do not come", BODY + "\r\n{", 45)
    yield held_open("bodies that do not come, without a token", BODY + "\r\n{", 45, token=None)
    yield held_open("chunks that do not come", BODY.replace("Content-Length: 100", "Transfer-Encoding: chunked") +
                    f"Authorization: Bearer {TOKEN}\r\n\r\n5\r\n", 45)
    yield held_open("idle after a refusal", "GET /healthz HTTP/1.1\r\nHost: @H\r\n\r\n", 75)
    yield held_open("a preface of HTTP/2 and nothing more", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 20)
    yield shut_out("300 silent connections below 256 descriptors", "")
    yield shut_out("300 slow heads below 256 descriptors", HALF)
    yield shut_out("300 slow bodies below 256 descriptors", BODY + "\r\n{")
    yield shut_out("300 wrong tokens that stay", head("GET", "/mcp", "@H", Authorization="Bearer wrong", Connection="keep-alive"))
    yield shut_out("150 silent connections below 128 descriptors", "", 150, 128)
    yield shut_out("600 silent connections below 512 descriptors", "", 600, 512)
