"""What every Python smoke test shares: a place of its own, a server, a judge, a tally."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
RUNWARD = os.environ.get("RUNWARD_BIN", str(ROOT / "target/debug/runward"))
TABLE = json.loads(Path(__file__).with_name("checks.json").read_text())
# A bound for hung waits; nothing is expected to take this long.
PATIENCE = 20.0


def until(condition, seconds=PATIENCE):
    """Polls until the condition holds; whether it did."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class Place:
    """A directory, a configuration and a mark that tells this test's processes from all others."""

    count = 0

    def __init__(self):
        Place.count += 1
        # Also a number of seconds, so that `sleep` takes it as its argument.
        self.mark = f"3000.{os.getpid():07d}{Place.count:02d}"
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix=f"runward-{self.mark}-"))
        config = Path(self.dir, "config.toml")
        sandbox = f'[sandbox]\nwritable_roots = ["{self.dir}"]\n'
        config.write_text('[mcp]\nheartbeat = "1s"\n[shell_tool]\ninherit_also = ["SMOKE_MARK"]\n' + sandbox)
        self.env = {"ALLOWED_COMMANDS": TABLE["allowed"], "RUNWARD_CONFIG": str(config), "SMOKE_MARK": self.mark}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.alive():
            os.kill(pid, 9)
        shutil.rmtree(self.dir)

    def alive(self, program=""):
        """The processes (of this program) that carry the mark in their arguments or environment, zombies aside."""
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                arguments, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
            except OSError:
                continue
            carries = self.mark.encode() in arguments or self.mark.encode() in environment
            if carries and program in ("", os.path.basename(arguments.split(b"\0")[0]).decode(errors="replace")):
                found[int(entry.name)] = arguments.replace(b"\0", b" ").decode(errors="replace")
        return found

    def tree(self):
        """Arguments of a call that keeps three processes alive, one of them in a session of its own."""
        script = "setsid sleep $1 & sleep $1 & wait"
        return {"file": "bash", "args": ["-c", script, "bash", self.mark], "timeout_ms": 600000}

    def tree_is_up(self):
        return len(self.alive("sleep")) == 2

    def fill(self, value):
        """The value with this place's directory and mark in it."""
        text = json.dumps(value).replace("${DIR}", self.dir).replace("${MARK}", self.mark)
        return json.loads(text)


class HttpServer:
    """`runward serve` on a free port."""

    def __init__(self, place):
        self.process = subprocess.Popen(
            [RUNWARD, "serve", "--bind", "127.0.0.1:0"],
            env=os.environ | place.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )
        for line in self.process.stdout:
            if match := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
                self.url = match[1] + "/mcp"
                return
        raise RuntimeError(f"the server said no address and ended with {self.process.wait()}")

    def stop(self):
        """Asks it to end; its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed: it did not end by itself"


class Tally:
    """One line a check, one line at the end."""

    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, 0

    def check(self, label, ok, detail=""):
        if ok:
            self.passed += 1
            print(f"ok    {label}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {label}: {str(detail)[:2000]}", flush=True)

    def finish(self):
        print(f"{self.name}: {self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def judge(check, is_error, text):
    """What is wrong with the answer, or None."""
    if check.get("protocol_error"):
        return f"expected a protocol error, got {text!r}"
    if is_error != check.get("error", False):
        return f"isError is {is_error}: {text!r}"
    for part in check.get("contains", []):
        if part not in text:
            return f"{part!r} is not in {text!r}"
    if "yaml" in check:
        mapping = yaml.safe_load(text)
        if list(mapping)[:3] != ["exit_code", "stdout", "stderr"]:
            return f"keys are {list(mapping)}"
        for key, wanted in check["yaml"].items():
            if mapping[key] != wanted:
                return f"{key} is {mapping[key]!r}, not {wanted!r}, in {text!r}"
    return None
