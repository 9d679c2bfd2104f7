"""Generators by name, and the regimes: a generator with its laws chosen, each with its source.

There is one YAML file of regimes a kind of engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import at, unknown_name, wrong_value
from workbench.parts import from_file, is_in_file
from workbench.strict_yaml import read_mapping
from workbench.workloads.workload import Generator, check_kind

_MODULES = (
    *("applications", "dense_kernels", "memory_jobs", "page_accesses", "random_groups", "reported_programs"),
    *("sparse_kernels", "training_memory", "waiting_kernels"),
)
for _name in ("malloc_calls", "serving", *(f"synthetic.{module}" for module in _MODULES)):
    import_module(
        f"workbench.workloads.{_name}"
    )  # which defines its generators; a user's own joins them as it is defined


def generators(wants: str) -> dict[str, type[Generator]]:
    """Return the generators of what an engine wants, in the order of their names.

    >>> sorted(generators("groups"))
    ['random_groups', 'waiting_kernels']
    """
    return {name: cls for name, cls in sorted(Generator.members.all().items()) if cls.gives(wants)}


def add_generator(cls: type[Generator]) -> type[Generator]:
    """Enter a user's generator, which happens when it is defined; defined again, the later one counts.

    Raises
    ------
    InputError
        It is no generator, or the workbench has one of that name.

    Examples
    --------
    >>> add_generator(int)
    Traceback (most recent call last):
    workbench.errors.InputError: a generator must be a class that derives from Generator. Got <class 'int'>.
    """
    if not (isinstance(cls, type) and issubclass(cls, Generator)):
        raise wrong_value("", "a generator", "must be a class that derives from Generator", cls)
    joined: type[Generator] = Generator.members.joined(cls)
    return joined


def generator_in_file(name: str, folder: Path, where: str) -> type[Generator]:
    """Return the generator that `FILE.py:CLASS` names, as `workbench.parts.user_files` does; errors as of that."""
    generator: type[Generator] = from_file(name, folder, where, "generator", _is_generator)
    return generator


def _is_generator(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Generator) and value is not Generator


def read_generator(
    name: object,
    levers: Mapping[str, Any],
    path: str = "workload",
    where: str = "",
    wants: str = "workgroups",
    folder: Path | None = None,
) -> Generator:
    """Read the generator of a name with some levers set; it must give what an engine `wants`.

    >>> read_generator("random_workgroups", {"count": 10, "size": 4}).count
    10

    Raises
    ------
    InputError
        The name or a lever is unknown, a value is not allowed, or the generator gives something else; the sentence
        holds the path.
    """
    place = at(where, f"{path}.synthetic")
    if isinstance(name, str) and is_in_file(name):
        cls = generator_in_file(name, folder or Path(), place)
    elif isinstance(name, str) and Generator.members.has(name):
        cls = Generator.members.find(name, place)
    else:
        raise unknown_name(place, "generator", name, generators(wants))
    if not cls.gives(wants):
        check_kind(cls, wants, f"generator {cls.name}", generators(wants), place)
    return cls.read(levers, path, where)


_SYNTHETIC = Path(__file__).with_name("synthetic")
_FILES = {
    "workgroups": _SYNTHETIC / "regimes.yaml",
    "groups": _SYNTHETIC / "group_regimes.yaml",
    "mallocs": _SYNTHETIC / "malloc_regimes.yaml",
    "pool_requests": _SYNTHETIC / "pool_regimes.yaml",
    "accesses": _SYNTHETIC / "access_regimes.yaml",
    "applications": _SYNTHETIC / "application_regimes.yaml",
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
    return {name: _made_regime(name, entry, wants) for name, entry in read_mapping(_FILES[wants]).items()}


def read_regime(name: object, path: str = "", where: str = "", wants: str = "workgroups") -> Regime:
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


def _made_regime(name: str, entry: Mapping[str, Any], wants: str) -> Regime:
    levers = dict(entry["workload"])
    workload = read_generator(levers.pop("synthetic"), levers, name, _FILES[wants].name, wants)
    return Regime(name, str(entry["says"]), str(entry["source"]), entry["machine"], workload)
