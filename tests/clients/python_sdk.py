"""Drives the server with the official Python SDK: every mode over both transports."""

import asyncio
import contextlib
import logging
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import ElicitResult

from harness import PATIENCE, RUNWARD, TABLE, HttpServer, Place, Tally, judge, until


async def reached(condition):
    return await asyncio.to_thread(until, condition)


async def call(client, tool, arguments, **options):
    result = await client.call_tool(tool, arguments, read_timeout_seconds=3 * PATIENCE, **options)
    return bool(result.is_error), "".join(block.text for block in result.content)


async def table(client, place, check):
    for row in place.fill(TABLE["checks"]):
        try:
            problem = judge(row, *await call(client, row["tool"], row["arguments"]))
        except MCPError as error:
            problem = None if row.get("protocol_error") == error.code else repr(error)
        check(row["name"], problem is None, problem)
    check("nothing of the ended calls is left", await reached(lambda: not place.alive("sleep")), place.alive())


async def side_by_side(client, place, check):
    pipe = f"{place.dir}/pipe"
    await call(client, "execute_command", {"command": f"mkfifo {pipe}"})
    # Opening a pipe waits for the other end: one call cannot end before the other has begun.
    reader = asyncio.create_task(call(client, "execute_command", {"command": f"cat {pipe}"}))
    await call(client, "execute_command", {"command": f"echo met > {pipe}"})
    check("two calls run side by side", "met" in (answer := await reader)[1], answer)


async def heartbeat(client, place, check):
    pipe = f"{place.dir}/pulse"
    await call(client, "execute_command", {"command": f"mkfifo {pipe}"})
    beats, beat = [], asyncio.Event()

    async def progress(value, _total, _message):
        beats.append(value)
        if len(beats) == 2:
            beat.set()

    silent = asyncio.create_task(
        call(client, "execute_command", {"command": f"cat {pipe}"}, progress_callback=progress)
    )
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(beat.wait(), PATIENCE)
    await call(client, "execute_command", {"command": f"echo on > {pipe}"})
    await silent
    check("a silent command has a heartbeat", len(beats) >= 2 and beats == sorted(set(beats)), beats)


async def live(client, place, check):
    pipe = f"{place.dir}/live"
    await call(client, "execute_command", {"command": f"mkfifo {pipe}"})
    heard, told = [], asyncio.Event()

    async def progress(value, _total, message):
        heard.append((value, message))
        if "begun" in message:
            told.set()

    running = asyncio.create_task(
        call(client, "shell", {"command": f"echo begun; cat {pipe}"}, progress_callback=progress)
    )
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(told.wait(), PATIENCE)
    check("output arrives while a shell command runs", told.is_set() and not running.done(), heard)
    await call(client, "execute_command", {"command": f"echo on > {pipe}"})
    check("a shell command ends with all of its output", "begun\non\n" in (answer := await running)[1], answer)


async def cancel(client, place, check):
    running = asyncio.create_task(call(client, "execute_process", place.tree()))
    check("a tree of processes starts", await reached(place.tree_is_up), place.alive())
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    gone = await reached(lambda: not place.alive("sleep") and not place.alive("bash"))
    check("cancelling ends the tree", gone, place.alive())
    answer = await call(client, "execute_command", {"command": "echo hello"})
    check("the server answers after a cancel", "hello" in answer[1], answer)


class User:
    """Whoever sits before the client, is shown forms, and answers what the test says."""

    def __init__(self):
        self.forms, self.answer = [], {}

    async def __call__(self, _context, form):
        self.forms.append(form.message)
        return ElicitResult(action="accept", content=self.answer)


async def approvals(client, user, apart, check):
    asked = {"cmd": "echo hello", "sandbox_permissions": "require_escalated", "justification": "to see it run"}
    user.answer = {"decision": "deny", "note": "not today"}
    answer = await call(client, "exec_command", asked)
    check("what the user denies does not run", answer[0] and "not today" in answer[1], answer)
    check("the user is shown the command and why", "echo hello" in user.forms[-1] and "to see it run" in user.forms[-1], user.forms)
    user.answer = {"decision": "approve for this session"}
    for _ in range(2):
        answer = await call(client, "exec_command", asked)
        check("what the user approves runs", not answer[0] and "hello" in answer[1], answer)
    # What nobody can tell from other clients is asked about each time.
    check("what is approved for the session is asked once", len(user.forms) == (2 if apart else 3), user.forms)


async def drive(target, mode, apart, place, check):
    user = User()
    async with Client(target, mode=mode, elicitation_callback=user) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        check("the tools are listed", names >= set(TABLE["tools"]), names)
        await table(client, place, check)
        await side_by_side(client, place, check)
        await heartbeat(client, place, check)
        await live(client, place, check)
        await approvals(client, user, apart, check)
        await cancel(client, place, check)
        left = asyncio.create_task(call(client, "execute_process", place.tree()))
        check("a call is in flight at the end", await reached(place.tree_is_up), place.alive())
    await asyncio.gather(left, return_exceptions=True)


def run(tally, transport, mode):
    with Place() as place:
        def check(label, ok, detail=""):
            tally.check(f"python {transport} {mode}: {label}", ok, detail)

        server = HttpServer(place) if transport == "http" else None
        # Over HTTP, without a token, only the sessions of older revisions tell clients apart.
        apart = transport == "stdio" or mode == "legacy"
        target = server.url if server else StdioServerParameters(command=RUNWARD, args=["stdio"], env=place.env)
        try:
            asyncio.run(drive(target, mode, apart, place, check))
        except Exception as error:
            check("the client works to its end", False, repr(error))
        if server:
            code = server.stop()
            check("the server ends when asked", code == 0, code)
        check("nobody is left", until(lambda: not place.alive()), place.alive())


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    tally = Tally("python")
    for transport in ["stdio", "http"]:
        for mode in ["auto", "legacy", "2026-07-28"]:
            run(tally, transport, mode)
    sys.exit(tally.finish())
