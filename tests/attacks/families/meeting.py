"""Where two things meet: two servers of one user, answers for a session elsewhere, clients without a session, hostile input."""

import json
import re

from harness.case import Case, Probe, table
from harness.listener import deputy, listening
from harness.servers import Client, Stdio
from harness.world import World

from .approved import EVIL, Desk
from .selfanswered import SETTINGS as ASKING
from .selfanswered import answers

FAMILY = "meeting"

ON = 'policy.allowed_commands = ["*"]\napprovals.local = false\nsandbox.network = "on"\n'


def two_servers(path, how, confined):
    """A command of one server asks another server of the same user."""

    def look(host):
        place, other = host.place("one"), host.place("other")
        server = listening(host, ON, host.place("two"))
        settings = ON if confined else ON + 'sandbox.profile = "full-access"\n'
        client = Stdio(host, host.env(host.place("state"), host.write(f"{place}.toml", settings)), str(place))
        try:
            words = deputy(server.address, path, other / "mark", how)
            said = json.dumps(client.call("execute_process", {"file": words[0], "args": words[1:], "cwd": str(place)}))
            if (other / "mark").exists():
                return "the other server made it"
            return "the other server judged for it" if "CHECKED" in said else None
        finally:
            client.close()
            server.close()

    return Probe(FAMILY, f"a command of one server asks another, {path} by {how}, {'confined' if confined else 'full-access'}", look)


def two_desks(host):
    """A command of one server answers what another server of the same user asks."""
    place, state = host.place("desks"), host.place("state")
    config = host.write(f"{place}.toml", ASKING.format(profile="full-access", containment="auto"))
    clients = [Stdio(host, host.env(state, config), str(place)) for _ in range(2)]
    try:
        from harness.people import Person
        clients[0].begin("tools/call", {"name": "execute_process", "arguments": {"file": "touch", "args": ["mark"], "cwd": str(place)}})
        person = Person(host, host.env(state, config), place)
        question = person.open()
        if not question:
            return "(control) nobody was asked"
        line = answers(host, state, config, question["id"])["a plain child"]
        host.write(place / "answer", f"#!/bin/sh\n{line}\n", 0o755)
        said = clients[1].call("execute_process", {"file": "./answer", "cwd": str(place)})
        return None if person.open(0.5) else f"answered: {json.dumps(said)[:200]}"
    finally:
        for client in clients:
            client.close()


def elsewhere(command, second):
    """Allowed for the session in one directory, and asked again in another that has another file of that name."""

    def look(host):
        desk, there = Desk(host), host.place("elsewhere")
        try:
            for suffix in ("sh", "py"):
                host.write(there / f"deploy.{suffix}", EVIL[suffix].format(mark=desk.mark), 0o755)
            call = desk.ask(command)
            question = desk.person.open()
            if not question:
                return "(control) nobody was asked"
            desk.person.answer(question, "--session")
            desk.client.answer(call)
            call = desk.ask(command, **{key: value.replace("@T", str(there)) if isinstance(value, str) else value for key, value in second.items()})
            question = desk.person.open(0.7)
            if question:
                desk.person.answer(question, "deny")
            desk.client.answer(call)
            return "ran outside without a question" if desk.mark.exists() else None
        finally:
            desk.close()

    return Probe(FAMILY, f"{command!r} allowed for the session, then with {second}", look)


def other_input(command):
    """Allowed for the session with one input, and run with another."""

    def look(host):
        desk = Desk(host)
        try:
            def printed(text):
                said = json.dumps(desk.client.call("execute_command", {"command": f"printf %s '{text}'", "cwd": str(desk.place)}))
                found = re.search(r'output_id\W+([\w-]+)', said)
                return found.group(1) if found else None
            good, evil = printed("true"), printed(f": > {desk.mark}")
            call = desk.ask(command, input_from=good)
            question = desk.person.open()
            if not question:
                return None
            desk.person.answer(question, "--session")
            desk.client.answer(call)
            call = desk.ask(command, input_from=evil)
            question = desk.person.open(0.7)
            if question:
                desk.person.answer(question, "deny")
            desk.client.answer(call)
            return "ran another input without a question" if desk.mark.exists() else None
        finally:
            desk.close()

    return Probe(FAMILY, f"{command!r} allowed for the session with one input, then with another", look)


def typed_after(host):
    """Allowed for the session on a pipe, then typed into: what is typed is the agent's own; so it must have been asked about as a shell."""
    desk = Desk(host)
    try:
        call = desk.ask("bash", stdin="pipe", yield_time_ms=400)
        question = desk.person.open()
        if not question:
            return None
        desk.person.answer(question, "deny")
        desk.client.answer(call)
        desk.client.call("write_stdin", {"session_id": 1, "chars": f": > {desk.mark}\n"})
        return "a denied session can be typed into" if desk.mark.exists() else None
    finally:
        desk.close()


class Modern:
    """A client of the era without sessions."""

    def __init__(self, server, name="m"):
        self.server, self.name = server, name

    def call(self, tool, given):
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": tool, "arguments": given, "_meta": meta}}
        headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool}
        return self.server.request("POST", "/mcp", body, headers)[2]


def without_sessions(first, second, act):
    def look(host):
        place = host.place("modern")
        server = listening(host, ON, place)
        kinds = {"modern": lambda: Modern(server), "other modern": lambda: Modern(server, "n"), "legacy": lambda: Client(server)}
        try:
            one, two = kinds[first](), kinds[second]()
            said = one.call("exec_command", {"cmd": "echo psst-$((4700+11)); cat", "stdin": "pipe", "login": False, "yield_time_ms": 600})
            said = said if isinstance(said, str) else json.dumps(said)
            number = re.search(r"session ID (\w+)", said)
            if not number:
                return f"(control) no session: {said[:200]}"
            value = int(number.group(1)) if number.group(1).isdigit() else number.group(1)
            given = {"list_sessions": {}, "read_session": {"session_id": value, "since": 0}, "kill_session": {"session_id": value}}[act]
            got = two.call(act, given)
            got = got if isinstance(got, str) else json.dumps(got)
            return f"{got[:200]}" if "psst" in got or "exited with" in got else None
        finally:
            server.close()

    return Probe(FAMILY, f"{act} of a {first} client's session by a {second} one", look)


HOSTILE = {
    "nested substitutions": "echo " + "$(" * 3000 + "ls" + ")" * 3000,
    "open substitutions": "echo " + "$(" * 100_000,
    "nested groups": "(" * 50_000 + "ls" + ")" * 50_000,
    "nested braces": "{ " * 30_000 + "ls;" + " }" * 30_000,
    "nested ifs": "if true; then " * 20_000 + "ls" + "; fi" * 20_000,
    "nested arithmetic": "echo $((" + "(" * 50_000 + "1" + ")" * 50_000 + "))",
    "nested parameters": "echo " + "${x:-" * 30_000 + "a" + "}" * 30_000,
    "nested quotes": "echo " + "\"$(echo " * 3000 + "a" + ")\"" * 3000,
    "nested backquotes": "echo " + "`echo \\" * 2000,
    "brace expansion": "echo " + "{a,b}" * 40,
    "brace ranges": "echo {1..999999999}",
    "brace ranges nested": "echo {1..99999}{1..99999}",
    "many commands": "ls;" * 40_000,
    "many pipes": "ls|" * 40_000 + "ls",
    "many here-documents": "cat " + "<<E " * 5000 + "\n" + "E\n" * 5000,
    "many words": "echo " + "a " * 60_000,
    "a long word": "echo " + "a" * 120_000,
    "negations": "! " * 60_000 + "ls",
    "unary operators": "echo $((" + "-" * 60_000 + "1))",
    "ternaries": "echo $((" + "1?" * 20_000 + "1" + ":1" * 20_000 + "))",
    "conditions": "[[ " + "! " * 50_000 + "a ]]",
    "conditions nested": "[[ " + "( " * 50_000 + "a" + " )" * 50_000 + " ]]",
    "eval of eval": "eval " * 30_000 + "ls",
    "env of env": "env " * 3_000 + "ls",
    "sh of sh": "bash -c " + "\"bash -c " * 8 + "ls" + "\"" * 8,
    "globs": "echo " + "*" * 60_000,
    "extended globs": "[[ a == " + "@(" * 20_000 + "a" + ")" * 20_000 + " ]]",
    "functions": "".join(f"f{i}() {{ f{i + 1}; }}; " for i in range(3000)) + "f3000() { ls; }; f0",
    "recursion": "f() { f; }; f",
    "aliases": "alias a=a; " * 5000 + "a",
    "cases": "case a in " + "a) ls;; " * 20_000 + "esac",
    "loops in loops": "for x in a b; do " * 5000 + "ls; " + "done; " * 5000,
    "flow in loops": "x=1; " + "while ls; do x=$((x)); " * 60 + "ls; " + "done; " * 60,
    "numbers in functions": "".join(f"f{i}() {{ x=$((x)); f{(i * 7) % 200}; }}; " for i in range(200)) + "x=1; f0",
}


def survives(name, text):
    def look(host):
        world = World(host, "list")
        try:
            world.stdio.call("execute_command", {"command": "true", "cwd": str(world.workspace)})
            for tool, given in (("execute_command", {"command": text, "cwd": str(world.workspace), "timeout_ms": 2000}),
                                ("execute_command", {"command": "printf %s-%s al ive", "cwd": str(world.workspace)})):
                said = json.dumps(world.stdio.call(tool, given, 20))
            if world.stdio.process.poll() is not None:
                return f"the server ended with {world.stdio.process.returncode}"
            return None if "al-ive" in said else f"nobody else is served: {said[:150]}"
        finally:
            world.close()

    return Probe(FAMILY, f"hostile line: {name}", look)


WRAPPED = table(r"""
./wrap touch @M
./wrap -x touch @M
./wrap -- touch @M
./wrap sh -c 'touch @M'
./wrap 'touch' @M
./wrap /usr/bin/touch @M
./wrap env touch @M
./wrap ./link @M
coreutils --coreutils-prog=touch @M
x='touch @M' bash -c '$x'
bash -c '$0 $1' touch @M
bash -c '"$@"' _ touch @M
bash -c 'touch "$1"' _ @M
bash -O extglob -c 'touch @M'
bash --posix -c 'touch @M'
bash -c -e 'touch @M'
bash -ec 'touch @M'
bash -- -c 'touch @M'
bash -o errexit -c 'touch @M'
bash +o errexit -c 'touch @M'
bash +O extglob -c 'touch @M'
bash --login -c 'touch @M'
bash --verbose -c 'touch @M'
bash --debugger -c 'touch @M'
bash --dump-strings -c 'touch @M'; bash -c 'touch @M'
bash -D -c 'touch @M'; touch @M
sh -c -- 'touch @M'
sh -ec 'touch @M'
sh +e -c 'touch @M'
dash -c 'touch @M' x
env -i bash -c 'touch @M'
find . -maxdepth 0 -exec bash -c '"$0" @M' touch \;
find . -maxdepth 0 -exec {} \; ; touch @M
find . -name touch -exec {} @M \;
find /usr/bin -name touch -exec {} @W/@M \;
find /usr/bin -name 'tou*' -execdir {} @W/@M \;
find /usr/bin/touch -exec {} @W/@M ';'
find . -maxdepth 0 -exec nice -n 1 {} + ; touch @M
xargs -I{} {} @M <<< touch
xargs -n2 <<< 'touch @M'
xargs -n2 env <<< 'touch @M'
xargs -r env <<< 'touch @M'
xargs --process-slot-var=x env <<< 'touch @M'
xargs -o env <<< 'touch @M'
xargs -x -n 9 nice <<< 'touch @M'
timeout 5 xargs <<< x env touch @M
command timeout 5 env -S 'nice touch @M'
""")


def cases(_host):
    for path in ("/raw", "/mcp", "/check"):
        for confined in (True, False):
            yield two_servers(path, "plain", confined)
    yield two_servers("/raw", "daemon", True)
    yield Probe(FAMILY, "a command of one server answers what another asks", two_desks)
    for command in ("./deploy.sh", "bash deploy.sh", "python3 deploy.py", "cat deploy.sh | sh"):
        yield elsewhere(command, {"workdir": "@T"})
    yield elsewhere("./deploy.sh", {"workdir": "@T", "login": True})
    yield elsewhere("./deploy.sh", {"workdir": "@T", "tty": True})
    for command in ("bash", "sh", "bash -s", "cat | bash", "xargs -I% sh -c %", "python3 - < /dev/null; bash"):
        yield other_input(command)
    yield Probe(FAMILY, "a denied session is typed into", typed_after)
    for first, second in (("modern", "modern"), ("modern", "other modern"), ("modern", "legacy"), ("legacy", "modern")):
        # Without sessions a client is whoever knows the id, which nobody guesses.
        for act in ("list_sessions",) if "modern" in first and "modern" in second else ("list_sessions", "read_session", "kill_session"):
            yield without_sessions(first, second, act)
    for name, text in HOSTILE.items():
        yield survives(name, text)
    for row in WRAPPED:
        yield Case(FAMILY, row, ("blocked", "asked", "patterns"))
