"""The generator that a sweep file names, with its levers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import at, unknown_name
from workbench.workloads.kind import check_kind
from workbench.workloads.synthetic.full_card import FullCard
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.mixed_jobs import MixedJobs
from workbench.workloads.synthetic.random_groups import RandomGroups
from workbench.workloads.synthetic.random_workgroups import RandomWorkgroups
from workbench.workloads.synthetic.training_memory import DataParallel, PipelineParallel

BUILT_IN = (RandomWorkgroups, RandomGroups, DataParallel, PipelineParallel, FullCard, MixedJobs)
"""Importing this module defines them; a generator of one's own joins them by being defined."""


def generators(wants: str) -> dict[str, type[Generator]]:
    """The generators of what an engine wants, by name.

    >>> sorted(generators("groups"))
    ['random_groups']
    """
    return {name: cls for name, cls in Generator.members.items() if cls.gives(wants)}


def read_generator(
    name: object, levers: Mapping[str, Any], path: str = "workload", where: str = "", wants: str = "workgroups"
) -> Generator:
    """The generator of a name with some levers set; it must give what an engine `wants`.

    >>> read_generator("random_workgroups", {"count": 10, "size": 4}).count
    10

    Raises
    ------
    InputError
        The name or a lever is unknown, a value is not allowed, or the generator gives something else; the sentence
        holds the path.
    """
    place = at(where, f"{path}.synthetic")
    if not isinstance(name, str) or name not in Generator.members:
        raise unknown_name(place, "generator", name, generators(wants))
    check_kind(Generator.members[name], wants, f"generator {name}", generators(wants), place)
    built: Generator = Generator.members[name].read(levers, path, where)
    return built
