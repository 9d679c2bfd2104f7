"""What a kind of delay costs: the change of p99 without it, all numbers by chance kept (spec 6, section 7)."""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.oracles.node.description import Node, Phase
from tests.oracles.node.measures import at_rank, time_of
from tests.oracles.node.node import simulate
from tests.oracles.node.times import PARTS

MANY = 10**6
"""More than any small node has at once."""


def blame(node: Node, percent: int = 99) -> dict[str, int]:
    """Return by kind of delay how many cycles shorter p99 of a group's time is without it."""
    whole = _quantile(node, percent)
    return {part: whole - _quantile(without(node, part), percent) for part in PARTS}


def _quantile(node: Node, percent: int) -> int:
    group = at_rank(simulate(node), percent)
    return time_of(group) if group else 0


def without(node: Node, part: str) -> Node:
    """Return a node from which one kind of delay is removed."""
    change = {
        "memory": lambda: _pool(node, request_ns=0, release_ns=0, driver_ns=0),
        "channel": lambda: _cards(node, "dispatch", dispatches_a_round=MANY, round_cycles=1, free_of_charge=True),
        "compute": lambda: _instant(node),
        "issue": lambda: _cards(_couplings(node, issue_at_once=True), "translation", registers=MANY),
        "walkers": lambda: _cards(node, "translation", walkers=MANY, walk_queue=0),
        "translation": lambda: _no_latency(node),
        "link": lambda: _couplings(node, remote="local"),
        "malloc lock": lambda: _cards(node, "heap", locked=False),
        "malloc service": lambda: _cards(node, "heap", hold_cycles=0, split_cycles=0),
        "heap chunk": lambda: _couplings(node, chunks_at_once=True),
        "shoot-down": lambda: _couplings(node, shootdown_cycles=0),
    }
    return change[part]()


def _couplings(node: Node, **changes: Any) -> Node:
    return dataclasses.replace(node, couplings=dataclasses.replace(node.couplings, **changes))


def _machine(node: Node, **changes: Any) -> Node:
    return dataclasses.replace(node, machine=dataclasses.replace(node.machine, **changes))


def _pool(node: Node, **changes: Any) -> Node:
    return _machine(node, pool=dataclasses.replace(node.machine.pool, **changes))


def _cards(node: Node, mechanism: str, **changes: Any) -> Node:
    """Change a mechanism of every card."""
    cards = tuple(
        dataclasses.replace(card, **{mechanism: dataclasses.replace(getattr(card, mechanism), **changes)})
        for card in node.machine.cards
    )
    return _machine(node, cards=cards)


def _no_latency(node: Node) -> Node:
    names = ("private_cycles", "directory_cycles", "shared_cycles", "hop_cycles", "walk_cycles")
    return _cards(_machine(node, local_cycles=0), "translation", **dict.fromkeys(names, 0))


def _instant(node: Node) -> Node:
    """Return a node whose phases compute in no time."""

    def step(one: Any) -> Any:
        if one.kernel is None:
            return one
        phases = tuple(_computing_nothing(phase) for phase in one.kernel.phases)
        return dataclasses.replace(one, kernel=dataclasses.replace(one.kernel, phases=phases))

    applications = tuple(
        dataclasses.replace(one, streams=tuple(tuple(map(step, steps)) for steps in one.streams))
        for one in node.applications
    )
    return dataclasses.replace(node, applications=applications)


def _computing_nothing(phase: Phase) -> Phase:
    return dataclasses.replace(phase, compute=0)
