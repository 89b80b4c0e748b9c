"""A person at this machine, who answers with `runward approvals`."""

import json
import time


class Person:
    """Looks at what servers with this state ask, and answers."""

    def __init__(self, host, env, cwd):
        self.host, self.env, self.cwd = host, env, str(cwd)

    def open(self, patience=8):
        """The first question that is open, once there is one; None when there is none in time."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            _, said = self.host.run(["approvals", "list", "--json"], self.env, self.cwd)
            for line in said.splitlines():
                if line.startswith("{"):
                    return json.loads(line)
            time.sleep(0.02)
        return None

    def answer(self, question, *how):
        """What `approvals allow ID` says; with "deny" before, what that says."""
        verb = how if how and how[0] in ("allow", "deny") else ("allow", *how)
        return self.host.run(["approvals", verb[0], question["id"], *verb[1:]], self.env, self.cwd)
