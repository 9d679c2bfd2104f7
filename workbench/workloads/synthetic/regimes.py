"""Named regimes: a generator with its laws chosen, each with its source; one YAML file a kind of engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import at, unknown_name
from workbench.strict_yaml import read_mapping
from workbench.workloads.kind import check_kind
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.generators import read_generator

_FILES = {
    "workgroups": Path(__file__).with_name("regimes.yaml"),
    "groups": Path(__file__).with_name("group_regimes.yaml"),
    "mallocs": Path(__file__).with_name("malloc_regimes.yaml"),
    "pool_requests": Path(__file__).with_name("pool_regimes.yaml"),
    "accesses": Path(__file__).with_name("access_regimes.yaml"),
    "applications": Path(__file__).with_name("application_regimes.yaml"),
}


class Regime(NamedTuple):
    """One named regime."""

    name: str
    says: str
    source: str
    machine: Any
    """The machine that the regime was stated for, as a sweep file says it; any that is large enough will do."""
    workload: Generator


@cache
def regimes(wants: str = "workgroups") -> Mapping[str, Regime]:
    """Return every regime of what an engine wants, by name.

    >>> list(regimes())
    ['large_uniform', 'medium_uniform', 'bimodal', 'power_of_two', 'small_uniform']
    >>> "head_of_line" in regimes("groups")
    True
    """
    if wants not in _FILES:
        return {}
    return {name: _regime(name, said, wants) for name, said in read_mapping(_FILES[wants]).items()}


def regime(name: object, path: str = "", where: str = "", wants: str = "workgroups") -> Regime:
    """Return the regime of a name.

    Raises
    ------
    InputError
        There is none of that name, or it gives something else than the engine `wants`.
    """
    known, place = regimes(wants), at(where, path)
    other = next((regimes(kind)[name] for kind in _FILES if isinstance(name, str) and name in regimes(kind)), None)
    if other is None:
        raise unknown_name(place, "regime", name, known)
    check_kind(type(other.workload), wants, f"regime {name}", known, place)
    return known[other.name]


def _regime(name: str, said: Mapping[str, Any], wants: str) -> Regime:
    levers = dict(said["workload"])
    workload = read_generator(levers.pop("synthetic"), levers, name, _FILES[wants].name, wants)
    return Regime(name, str(said["says"]), str(said["source"]), said["machine"], workload)
