"""Nodes of a few lines, for vectors and rules; what is not said is free of delay."""

from __future__ import annotations

from typing import Any

from tests.oracles.node.description import MIB, Node
from tests.oracles.node.groups import Group
from tests.oracles.node.node import Simulation, simulate

INSTANT = {"private_cycles": 0, "directory_cycles": 0, "shared_cycles": 0, "hop_cycles": 0}


def card(room: int = 2, modules: int = 1, translation: dict[str, Any] | None = None, **others: Any) -> dict[str, Any]:
    """Return a card whose modules have room for so many waves, and whose dispatcher is never the bottleneck."""
    dispatch = {"modules": modules, "wave_slots": room, "dispatches_a_round": 10**6} | others.pop("dispatch", {})
    return {"dispatch": dispatch, "translation": INSTANT | (translation or {})} | others


def kernel(groups: int = 1, *phases: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return a step that is a kernel; one phase of 100 cycles if no phase is given."""
    return {"kernel": {"groups": groups, "phases": phases or ({"compute": 100},)} | others}


def tensor(name: str, pages: int = 1) -> dict[str, Any]:
    """Return a step that allocates pages of 2 MiB."""
    return {"allocate": name, "bytes": pages * 2 * MIB}


def run(
    cards: list[dict[str, Any]], applications: list[dict[str, Any]], couplings: dict[str, Any] | None = None,
    policies: dict[str, Any] | None = None, machine: dict[str, Any] | None = None, **others: Any,
) -> Simulation:  # fmt: skip
    """Run a node; `streams` of an application may be a list of steps, for one stream."""
    values = {"machine": {"cards": cards} | (machine or {}), "applications": [_whole(one) for one in applications]}
    return simulate(Node.of(values | {"couplings": couplings or {}, "policies": policies or {}} | others))


def _whole(application: dict[str, Any]) -> dict[str, Any]:
    streams = application["streams"]
    return application | {"streams": streams if isinstance(streams[0], list) else [streams]}


def groups_of(result: Simulation) -> list[Group]:
    """Return all groups that were put forward, in order of their keys."""
    return sorted((group for program in result.programs for group in program.groups), key=lambda group: group.key)


def ends(result: Simulation) -> list[int | None]:
    """Return when the groups ended."""
    return [group.ended_at for group in groups_of(result)]
