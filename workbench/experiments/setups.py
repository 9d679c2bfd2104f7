"""Setups read from a sweep's mapping: machine, workload, policies and options of one point.

The alternatives of a grid have most of their parts in common, so each part is read once and kept by its text.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.engines.kit.engine import Setup
from workbench.errors import at, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
from workbench.levers import Spec, read_spec
from workbench.machine import Described
from workbench.machine.guest_presets import guest_preset
from workbench.machine.presets import Preset, is_preset_file, preset_in_file
from workbench.parts import is_in_file
from workbench.policies.catalogue import policy_in_file
from workbench.policies.policy import Policy, read_policy
from workbench.workloads.catalogue import catalogue, locate
from workbench.workloads.workload_key import read_workload

PartReader = Callable[[str, Any, Callable[[Any], Any]], Any]
"""Map a part's name, its raw value and its parser to the parsed value, perhaps from a cache."""


def uncached(part: str, raw: Any, read: Callable[[Any], Any]) -> Any:
    """Read a part again."""
    return read(raw)


def read_setup(sweep: Sweep, config: Mapping[str, Any], cached: PartReader = uncached) -> Setup:
    """Read the checked setup of one alternative; `cached` may remember parts that were read before."""
    engine, where = sweep.mechanism.engine, sweep.where
    machine = cached(
        "machine",
        config.get("machine") or {},
        lambda it: read_machine(engine.machine, it, sweep.folder, "machine", where),
    )
    workload = cached(
        "workload",
        config["workload"],
        lambda it: read_workload(it, "workload", where, sweep.folder, engine.workload_kind),
    )
    workload.check_machine(machine, "workload", where)
    policies = cached("policy", config.get("policy") or {}, lambda it: read_policies(sweep, it, "policy"))
    options: Spec = cached(
        "options", config.get("options") or {}, lambda it: read_spec(engine.options, it, "options", where)
    )
    return Setup(engine.name, machine, workload, policies, options)


def read_policies(sweep: Sweep, given: object, key: str) -> dict[str, Policy]:
    slots = sweep.mechanism.engine.slots
    if not isinstance(given, Mapping):
        raise wrong_value(sweep.where, key, f"must be a mapping of {', '.join(slots)}", given)
    for slot in given:
        if slot not in slots:
            raise unknown_name(at(sweep.where, key), "key", slot, slots)
    named = {slot: _from_file(sweep, given.get(slot, default)) for slot, default in slots.items()}
    same = {slot: policy for slot, policy in named.items() if isinstance(policy, str) and policy in slots}
    read = {
        slot: read_policy(sweep.mechanism.engine.question_of(slot), policy, f"{key}.{slot}", sweep.where)
        for slot, policy in named.items()
        if slot not in same
    }
    return {slot: read[same.get(slot, slot)] for slot in slots}


def _from_file(sweep: Sweep, given: Any) -> Any:
    """Return a policy named as `FILE.py:CLASS` (alone, or with its levers) as the class (or the policy) that it
    means."""
    if isinstance(given, str) and is_in_file(given):
        return policy_in_file(given, sweep.folder, sweep.where)
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, levers),) = given.items()
        if isinstance(name, str) and is_in_file(name):
            cls = policy_in_file(name, sweep.folder, sweep.where)
            return read_spec(cls, levers or {}, cls.name, sweep.where)
    return given


class ParseCache:
    """Caches parsed plain values; a value that holds objects is parsed again each time.

    >>> cached, read = ParseCache(), []
    >>> def length(raw):
    ...     read.append(raw)
    ...     return len(raw)
    >>> [cached("size", raw, length) for raw in ([1, 2], [1, 2], [1, 2.0], [object(), object()])]
    [2, 2, 2, 2]
    >>> len(read)
    3
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Any] = {}

    def __call__(self, part: str, raw: Any, read: Callable[[Any], Any]) -> Any:
        try:
            key = part, marshal.dumps(raw, 2)
        except ValueError:
            return read(raw)
        if key not in self._known:
            self._known[key] = read(raw)
        return self._known[key]


def read_machine(of: type[Described], raw: Any, folder: Path, path: str = "machine", where: str = "") -> Any:
    """Read the machine of a kind that a sweep describes, with the files that are named in it.

    Raises
    ------
    InputError
        A file is not there or not as it must be, or a preset or lever is unknown; the message holds the path.
    """
    return of.read(with_topology(with_preset(of, raw, folder, at(where, path)), folder), path, where)


def with_preset(of: type[Described], raw: Any, folder: Path, where: str) -> Any:
    """Return a sweep's machine, or its part of a node, with a preset's file written out as levers.

    Presets that installed packages bring are such files too.
    """
    if isinstance(raw, str) and _preset_elsewhere(of, raw, folder, where):
        raw = {"preset": raw}
    if not isinstance(raw, Mapping):
        return raw
    parts = {name: of.levers[name].spec for name in of.nested}
    kinds = {name: kind for name, kind in parts.items() if kind is not None and issubclass(kind, Described)}
    levers = {k: with_preset(kinds[k], value, folder, where) if k in kinds else value for k, value in raw.items()}
    elsewhere = _preset_elsewhere(of, levers.get("preset"), folder, where)
    if elsewhere is None:
        return levers
    del levers["preset"]
    return dict(elsewhere.machine().replaced(levers))


def _preset_elsewhere(of: type[Described], name: object, folder: Path, where: str) -> Preset | None:
    """Return a preset that is not this package's: in a file of the user's, or of an installed package."""
    if is_preset_file(name):
        return preset_in_file(str(name), folder, where, of)
    return guest_preset(name, of)


TOPOLOGY = "topology"


def with_topology(raw: Any, folder: Path) -> Any:
    """Return a sweep's machine with the path of its topology file, as seen from the sweep's folder.

    A file that is there comes first, then a public trace of that name; what is neither stays, for its reader to refuse.

    >>> with_topology({"topology": "absent.xml", "card_bytes": 100}, Path("."))
    {'topology': 'absent.xml', 'card_bytes': 100}

    Raises
    ------
    InputError
        It is a public topology that is not on this machine.
    """
    if not isinstance(raw, Mapping) or not isinstance(raw.get(TOPOLOGY), str):
        return raw
    name = raw[TOPOLOGY]
    file = next((path for path in (folder / name, Path(name)) if path.is_file()), None)
    if file is None and name in catalogue():
        file = locate(name)
    return raw if file is None else {**raw, TOPOLOGY: str(file.absolute())}
