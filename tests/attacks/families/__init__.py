"""Attacks by family: each module has a FAMILY and gives its cases."""

from . import (
    approved,
    arithmetic,
    arrays,
    builtins,
    carriers,
    charsets,
    deputy,
    git,
    large,
    meeting,
    odd,
    origins,
    patterns,
    places,
    principals,
    selfanswered,
    slow,
    variables,
    workspace,
    wrappers,
)

# Those that wait for most of their time first.
FAMILIES = [
    slow,
    arrays,
    arithmetic,
    builtins,
    charsets,
    wrappers,
    variables,
    carriers,
    patterns,
    git,
    places,
    approved,
    deputy,
    selfanswered,
    principals,
    origins,
    large,
    odd,
    meeting,
]
WORKSPACE = [workspace]
