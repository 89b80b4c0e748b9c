"""Drives the server with the official inspector's command line: every era over both transports."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from harness import PATIENCE, ROOT, RUNWARD, TABLE, HttpServer, Place, Tally, judge, until

NPM = ROOT / "target/tools/npm/node_modules"
LAUNCHER = NPM / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


class Inspector:
    """One way of reaching one server."""

    def __init__(self, place, era, url):
        variables = [word for pair in place.env.items() for word in ("-e", "=".join(pair))]
        target = [url] if url else [RUNWARD, "stdio", *variables]
        self.command = [str(NPM / ".bin/node"), str(LAUNCHER), "--cli", *target, "--protocol-era", era]
        # The inspector writes below its home.
        self.env = os.environ | {"HOME": place.dir}

    def start(self, *arguments):
        return subprocess.Popen(
            [*self.command, *arguments], env=self.env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def run(self, *arguments):
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=4 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        return process.returncode, out, err

    def call(self, tool, arguments):
        return ["--method", "tools/call", "--format", "json", "--tool-name", tool, "--tool-args-json", json.dumps(arguments)]


def listing(inspector, check):
    code, out, err = inspector.run("--method", "tools/list", "--strict", "--format", "json")
    try:
        names = {tool["name"] for tool in find(json.loads(out), "tools")}
    except (ValueError, TypeError):
        names = set()
    check("the tools are listed", names >= set(TABLE["tools"]), f"{out} {err}")
    complaints = [line for line in err.splitlines() if line.startswith(("Error:", "Warning:"))]
    check("the schemas are portable", code == 0 and not complaints, f"exit {code}: {err}")


def find(answer, key):
    """The value under the key, whether or not the answer is wrapped."""
    if not isinstance(answer, dict) or key in answer:
        return answer.get(key) if isinstance(answer, dict) else None
    return find(answer.get("result"), key)


def row_of_table(inspector, row):
    _, out, err = inspector.run(*inspector.call(row["tool"], row["arguments"]))
    try:
        answer = json.loads(out)
    except ValueError:
        answer = None
    content = find(answer, "content")
    if content is None:
        return f"{out} {err}"
    return judge(row, bool(find(answer, "isError")), "".join(block["text"] for block in content))


def killed_client(inspector, place, check):
    client = inspector.start(*inspector.call("execute_process", place.tree()))
    check("a tree of processes starts", until(place.tree_is_up), place.alive())
    client.send_signal(signal.SIGKILL)
    client.communicate()
    gone = until(lambda: not place.alive("sleep") and not place.alive("bash"))
    check("a killed client takes its tree along", gone, place.alive())


def run(tally, transport, era):
    with Place() as place:
        def check(label, ok, detail=""):
            tally.check(f"inspector {transport} {era}: {label}", ok, detail)

        server = HttpServer(place) if transport == "http" else None
        inspector = Inspector(place, era, server and server.url)
        listing(inspector, check)
        # The inspector itself refuses to call a tool that is not listed.
        rows = [row for row in place.fill(TABLE["checks"]) if "protocol_error" not in row]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for row, problem in zip(rows, pool.map(lambda row: row_of_table(inspector, row), rows)):
                check(row["name"], problem is None, problem)
        # By the older protocol a lost HTTP stream may be taken up again, so it ends nothing.
        if transport == "stdio" or era != "legacy":
            killed_client(inspector, place, check)
        if server:
            code = server.stop()
            check("the server ends when asked", code == 0, code)
        check("nobody is left", until(lambda: not place.alive()), place.alive())


if __name__ == "__main__":
    tally = Tally("inspector")
    for transport in ["stdio", "http"]:
        for era in ["legacy", "auto", "modern"]:
            run(tally, transport, era)
    sys.exit(tally.finish())
