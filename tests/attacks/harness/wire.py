"""Bytes on a socket, as they are."""

import socket


def open_socket(server, patience=10):
    held = socket.create_connection(("127.0.0.1", server.port), patience)
    held.settimeout(patience)
    return held


def said(held, most=65536):
    """What comes until the other end closes or has nothing more to say in time; None when nothing is said."""
    found = b""
    try:
        while len(found) < most:
            piece = held.recv(4096)
            if not piece:
                break
            found += piece
            if b"\r\n\r\n" in found and b"Transfer-Encoding" not in found and b"transfer-encoding" not in found:
                head, _, body = found.partition(b"\r\n\r\n")
                length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                               if line.lower().startswith(b"content-length")), None)
                if length is not None and len(body) >= length:
                    break
    except OSError:
        pass
    return found.decode("utf-8", "replace")


def sent(server, text, patience=10):
    """The answer to these very bytes."""
    held = open_socket(server, patience)
    try:
        held.sendall(text if isinstance(text, bytes) else text.encode())
        return said(held)
    finally:
        held.close()


def status(answer):
    """Of an answer; 0 is none."""
    words = answer.split(" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


def head(method, path, host, body="", **headers):
    """A request; a name's underscores stand for hyphens."""
    given = {"Host": host, "Content-Type": "application/json", "Content-Length": str(len(body.encode())), "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value is not None)
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n{body}"
