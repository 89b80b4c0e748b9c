"""What a case is: a call to make and the mark that says that it got through, or a probe that looks for itself."""

from dataclasses import dataclass, field
from typing import Callable

# Policies that name what may run, and those that name what may not: `*`, and something against `touch`.
NAMED = ("list", "rego", "untrusted")
AGAINST = ("blocked", "patterns", "denied", "asked")
ALL = NAMED + AGAINST

LINES = ("execute_command", "shell", "exec_command")
ARGVS = ("execute_process", "run_network_tool", "raw")


class Skip(Exception):
    """The host lacks what the case is about."""


@dataclass(frozen=True)
class Case:
    """One call. In every text @M is the name of a mark that nothing may leave, and @W the workspace."""

    family: str
    what: str | list
    policies: tuple = ALL
    doors: tuple = ()
    env: dict = field(default_factory=dict)
    cwd: str = "@W"
    more: dict = field(default_factory=dict)
    through: str = ""  # a text in the answer that says the same as a mark

    @property
    def is_line(self):
        return isinstance(self.what, str)


@dataclass(frozen=True)
class Probe:
    """Looks by itself: `look(host)` gives None where it was refused, else what it got."""

    family: str
    name: str
    look: Callable
    waits: bool = False  # it sleeps for most of its time, so that many can at once


def table(text):
    """One line each, without empty ones and those that begin with `##`; ␤ is a newline."""
    rows = (row.rstrip("\n") for row in text.split("\n"))
    return [row.replace("␤", "\n") for row in rows if row.strip() and not row.startswith("##")]


def lines(family, text, **more):
    return [Case(family, row, **more) for row in table(text)]
