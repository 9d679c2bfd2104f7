"""The names of a batch's outputs, and of the parameters that stand for the varied levers of a sweep."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.digests import digest
from workbench.errors import InputError
from workbench.strict_yaml import parse_value

LONGEST_VALUE, LONGEST_NAME = 40, 180
"""Letters of a value in the name of an output, and bytes of the name; what is longer is cut and ends with a digest."""


def output_name(notebook: str, parameters: Mapping[str, Any]) -> str:
    """Return the name of the output of a notebook with these parameters.

    A text or a number that a file's name can hold stands as it is; anything else stands for itself as far as it can,
    with a digest of the value, so that two values never have one name.

    >>> output_name("study", {"seeds": 5, "policy": "best_fit"})
    'study-seeds-5-policy-best_fit'
    >>> output_name("study", {"sweep": "../sweeps/placement/drain.yaml"})
    'study-sweep-drain.yaml~82d7a2'
    """
    words = [notebook, *(f"{name}-{_readable(value)}" for name, value in parameters.items())]
    name = "-".join(words)
    if len(name.encode()) <= LONGEST_NAME:
        return name
    return f"{name.encode()[:LONGEST_NAME].decode(errors='ignore')}~{digest_of(parameters)}"


def _readable(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    if _round_trips_as_yaml(value, text):
        return text
    last = text.rstrip("/").rpartition("/")[2] if isinstance(value, str) else text
    return f"{re.sub('[^A-Za-z0-9_.+-]+', '_', last).strip('_')[:LONGEST_VALUE]}~{digest_of(value)}"


def _round_trips_as_yaml(value: Any, text: str) -> bool:
    """Return True where YAML reads the value, and no other, from its text, and a file's name can hold the text."""
    if not re.fullmatch(r"[A-Za-z0-9_.+-]+", text) or len(text) > LONGEST_VALUE:
        return False
    try:
        meant = parse_value(text, "")
    except InputError:
        return False
    return type(meant) is type(value) and bool(meant == value)


def digest_of(value: Any) -> str:
    """Return the digest of a value that ends a name."""
    return digest(json.dumps(value, sort_keys=True, default=str))[:6]


def outermost(paths: Sequence[str] | dict[str, None]) -> list[str]:
    """Return the varied paths that do not lie inside another one, whose value holds theirs."""
    return [p for p in paths if not any(p != other and p.startswith((f"{other}.", f"{other}[")) for other in paths)]


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return a parameter's name for each path: its last word, with as many words before it as make it different.

    >>> short_names(["policy.placement", "workload.size.uniform[1]", "machine.segments"])
    {'policy.placement': 'placement', 'workload.size.uniform[1]': 'uniform_1', 'machine.segments': 'segments'}
    >>> short_names(["workload.size.high", "workload.duration.high"])
    {'workload.size.high': 'size_high', 'workload.duration.high': 'duration_high'}
    """
    return {path: _shortest_name(path, paths) for path in paths}


def _shortest_name(path: str, paths: Sequence[str]) -> str:
    words = _words(path)
    for count in range(1, len(words) + 1):
        if not any(other != path and _words(other)[-count:] == words[-count:] for other in paths):
            return "_".join(words[-count:])
    return "_".join(words)


def _words(path: str) -> list[str]:
    return [part.replace("[", "_").replace("]", "") for part in path.split(".")]
