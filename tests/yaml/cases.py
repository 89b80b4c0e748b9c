"""Prints a JSON array of [stdout, stderr] pairs: texts that YAML writers get wrong. The same ones every time."""

import json
import random

WORDS = [
    "", " ", "  ", "\t", "\n", "\r", "\r\n", "\n\r", "a", "a b", " a", "\ta", "a ", "a\t", " \n", "\n ", "\t\n", "\n\t",
    "---", "--- a", "...", "... a", "- a", "-", "? a", "?", ": a", ":", "key: value", "key:", "a #b", "# c", "#",
    "%TAG ! tag:x,2000:", "%YAML 1.1", "!!int 3", "!a", "&a b", "*a", "~", "null", "Null", "true", "no", "Off", "y", "=",
    "<<", "0", "-0", "1e3", "0x1f", "0o7", "1_000", "190:20:30", ".inf", "-.INF", ".nan", "2001-12-14", "12:30:45",
    "|", "|-", "|+2", ">", ">-", "'", "''", '"', '""', "\\", "\\n", "\\\\", "\\x41", "{a: b}", "[a, b]", "{", "}", "[",
    "]", ",", "@a", "`a", "a: b: c", "a\\", "'a", '"a', "a'b", 'a"b', "exit_code: 0\nstdout: x", "a:\n  b", "\\\n",
    "é", "\x00", "\x07", "\x08", "\x1b[31mred\x1b[0m", "\x1b", "\x7f", "\x80", "\x85", "\x9f", "\xa0", "\u200b", "\u2028",
    "\u2029", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\ud7ff", "\ue000", "\u202e", "😀", "👩‍👩‍👧", "𝄞", "\U0001ffff",
    "\U0010ffff", "\U000e0001", "e\u0301", "a\x85b", "a\u2028b", "a\rb", "a\r\nb\r\n", "a\nb", "a\n\nb", "a\n b\nc",
    " a\nb", "  a\n b\nc", "\ta\n\tb", "\n a", "\n\n  a\nb", "a\n  \nb", "a\n\t\nb", "a \nb", "a\n---\nb", "a\n...\nb",
    "---\n", "a\n%b", "a\n# b", "# a\nb", "\n# a", "a\n\x07b", "a\n\ufeffb", "\ufeffa\nb", "$ ls\n  total: 0\n",
]  # fmt: skip
LONG = [
    "x" * 100_000, "x " * 50_000, " " * 100_000, "\n" * 5_000, "é😀" * 30_000, "a\tb" * 30_000, "x" * 100_000 + "\x07",
    "x: y\n" * 20_000, ("y" * 99 + "\n") * 1_000, " " + "x" * 100_000 + "\n", "\\" * 50_000, '"' * 50_000, "'" * 50_000,
    " \n" * 5_000, "a\r\n" * 20_000,
]  # fmt: skip


def characters():
    """Every Latin-1 character, alone, first, last, between and on lines of its own."""
    for code in range(0x100):
        c = chr(code)
        yield from [c, f"{c}a", f"a{c}", f"a{c}b\n", f"a\n{c}\nb", f"{c}\n"]


def words():
    """Every word with nothing to four line feeds after it, before it and around it."""
    for word in WORDS:
        yield from [word + "\n" * count for count in range(5)]
        yield from [f"\n{word}", f"a\n{word}", f"{word}\nb\n", f"  {word}\n{word}"]


def mixes(count):
    """Words and characters thrown together."""
    dice = random.Random(20250618)
    planes = [(0, 0x80), (0, 0x20), (0x80, 0x3000), (0xE000, 0x10000), (0x10000, 0x110000)]
    for _ in range(count):
        parts = []
        for _ in range(dice.randrange(1, 12)):
            low, high = dice.choice(planes)
            parts.append(dice.choice([dice.choice(WORDS), "\n", " ", chr(dice.randrange(low, high))]))
        yield "".join(parts)


if __name__ == "__main__":
    texts = [*characters(), *words(), *mixes(3000), *LONG]
    # The second stream is another text of the same list, so that each comes both before and after a key.
    pairs = [[text, texts[(index * 31 + 7) % len(texts)]] for index, text in enumerate(texts)]
    print(json.dumps(pairs))
