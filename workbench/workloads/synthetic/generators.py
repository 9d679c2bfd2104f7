"""The generator that a sweep file names, with its levers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import at, unknown_name
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.random_workgroups import RandomWorkgroups

BUILT_IN = (RandomWorkgroups,)
"""Importing this module defines them; a generator of one's own joins them by being defined."""


def read_generator(name: object, levers: Mapping[str, Any], path: str = "workload", where: str = "") -> Generator:
    """The generator of a name with some levers set.

    >>> read_generator("random_workgroups", {"count": 10, "size": 4}).count
    10

    Raises
    ------
    InputError
        The name or a lever is unknown, or a value is not allowed; the sentence holds the path.
    """
    if not isinstance(name, str) or name not in Generator.members:
        raise unknown_name(at(where, f"{path}.synthetic"), "generator", name, Generator.members)
    built: Generator = Generator.members[name].read(levers, path, where)
    return built
