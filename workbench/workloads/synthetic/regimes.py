"""Named regimes: random workgroups with their laws chosen, each with its source, from `regimes.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from workbench.errors import at, unknown_name
from workbench.strict_yaml import read_mapping
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.generators import read_generator

_FILE = Path(__file__).with_name("regimes.yaml")


class Regime(NamedTuple):
    """One named regime."""

    name: str
    says: str
    source: str
    segments: int
    """Segments of the machine that the regime was stated for; it may be asked of any that is large enough."""
    workload: Generator


@cache
def regimes() -> Mapping[str, Regime]:
    """Every regime by name.

    >>> list(regimes())
    ['large_uniform', 'medium_uniform', 'bimodal', 'power_of_two', 'small_uniform']
    """
    return {name: _regime(name, said) for name, said in read_mapping(_FILE).items()}


def regime(name: object, path: str = "", where: str = "") -> Regime:
    """The regime of a name.

    Raises
    ------
    InputError
        There is none of that name.
    """
    known = regimes()
    if not isinstance(name, str) or name not in known:
        raise unknown_name(at(where, path), "regime", name, known)
    return known[name]


def _regime(name: str, said: Mapping[str, object]) -> Regime:
    levers = dict(said["workload"])  # type: ignore[call-overload]
    workload = read_generator(levers.pop("synthetic"), levers, name, _FILE.name)
    return Regime(name, str(said["says"]), str(said["source"]), int(str(said["segments"])), workload)
