"""A server that listens, in a place of its own, and what a confined program sends it."""

from .servers import Serve

PYTHON = "/usr/bin/python3"

# What a command does with the server that it belongs to: urls, bodies, and how far it goes for them.
DEPUTY = r'''
import json, os, socket, sys, time, urllib.request
base, path, mark, how = sys.argv[1:5]
def post(url, body, headers={}):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json",
        "Accept": "application/json, text/event-stream", **headers})
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=8)
def go():
    folder = os.path.dirname(mark)
    if path == "/mcp":
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "deputy", "version": "1"}}}
        answer = post(base + path, hello)
        headers = {"Mcp-Session-Id": answer.headers["mcp-session-id"], "MCP-Protocol-Version": "2025-11-25"}
        answer.read()
        post(base + path, {"jsonrpc": "2.0", "method": "notifications/initialized"}, headers).read()
        call = {"name": "execute_process", "arguments": {"file": "touch", "args": [mark], "cwd": folder}}
        print(post(base + path, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, headers).read())
    elif path == "/modern":
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "deputy", "version": "1"}}
        call = {"name": "execute_process", "arguments": {"file": "touch", "args": [mark], "cwd": folder}, "_meta": meta}
        print(post(base + "/mcp", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
            {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "execute_process"}).read())
    elif path == "/check":
        answer = post(base + path, {"executable": "touch", "args": [mark], "cwd": folder}).read()
        print("CHECK" + "ED", answer)
    elif path == "/raw-detached":
        print(post(base + "/raw", {"executable": "touch", "args": [mark], "cwd": folder, "detach": True}).read())
    else:
        print(post(base + path, {"executable": "touch", "args": [mark], "cwd": folder}).read())
def child(times):
    if times and os.fork():
        return
    if times:
        os.setsid()
        return child(times - 1)
    go()
    os._exit(0)
try:
    if how == "plain": go()
    elif how == "setsid": child(1)
    elif how == "daemon": child(2)
    elif how == "passed":
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            _, fds, _, _ = socket.recv_fds(theirs, 9, 1)
            held = socket.socket(fileno=fds[0])
            body = json.dumps({"executable": "touch", "args": [mark], "cwd": os.path.dirname(mark)})
            host = base.split("//")[1]
            held.sendall(f"POST /raw HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            held.settimeout(5)
            print(held.recv(9999)); os._exit(0)
        address = base.split("//")[1].rsplit(":", 1)
        held = socket.create_connection((address[0].strip("[]"), int(address[1])))
        socket.send_fds(ours, [b"x"], [held.fileno()])
        held.close()
        os.wait()
    elif how == "namespace":
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWPID) if hasattr(os, "unshare") else None
        if os.fork() == 0: go(); os._exit(0)
        os.wait()
    time.sleep(0 if how == "plain" else 0.4)
except Exception as error:
    print("FAILED", error, getattr(error, "read", lambda: b"")())
'''


def deputy(address, path, mark, how="plain"):
    """The words of a program that asks the server for what it may not do itself."""
    return [PYTHON, "-c", DEPUTY, f"http://{address}", path, str(mark), how]


def listening(host, settings, place, arguments=(), bind="127.0.0.1:0", **env):
    """A server with these settings, in this place."""
    config = host.write(f"{place}.toml", settings)
    return Serve(host, host.env(host.place("state"), config, **env), str(place), arguments, bind)
