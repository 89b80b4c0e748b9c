"""Reads the replies back with PyYAML: read.py CASES REPLIES."""

import json
import sys

import yaml


def problem(loader, case, reply):
    try:
        mapping = yaml.load(reply, Loader=loader)
    except yaml.YAMLError as error:
        return str(error)
    if list(mapping) != ["exit_code", "stdout", "stderr"] or type(mapping["exit_code"]) is not int:
        return f"keys are {list(mapping)}"
    return None if [mapping["stdout"], mapping["stderr"]] == case else "another text came back"


def read(loader, cases, replies):
    """Whether any differs; the first few are shown."""
    failed = 0
    for case, reply in zip(cases, replies, strict=True):
        if found := problem(loader, case, reply):
            failed += 1
            if failed <= 5:
                print(f"FAIL  PyYAML {loader.__name__}: {found}: {str(case)[:300]} as {reply[:300]!r}")
    name = f"PyYAML {yaml.__version__} {loader.__name__}"
    print(f"FAIL  {name}: {failed} of {len(cases)} replies" if failed else f"ok    {name} reads {len(cases)} replies back")
    return failed > 0


if __name__ == "__main__":
    cases, replies = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
    loaders = [yaml.SafeLoader]
    if hasattr(yaml, "CSafeLoader"):
        loaders.append(yaml.CSafeLoader)
    else:
        print("skipped: PyYAML has no C loader here")
    failed = sum(read(loader, cases, replies) for loader in loaders)
    print(f"PyYAML: {len(loaders) - failed} passed, {failed} failed")
    sys.exit(failed > 0)
