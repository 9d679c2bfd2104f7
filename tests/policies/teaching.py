"""Every method by which a person asks a policy in plain Python, with arguments that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.policies.catalogue import load_all
from workbench.policies.dispatch.selection.stepper import Head, SelectionStepper
from workbench.policies.dispatch.units import SplitTable
from workbench.policies.malloc.device_heap import DeviceHeap
from workbench.policies.placement.circuit import cost as circuit_cost
from workbench.policies.placement.circuit import trace as circuit_trace
from workbench.policies.policy import Policy, policies
from workbench.policies.probes.shared_gates import trace as shared_trace
from workbench.policies.translation.cores import cores_of, degree
from workbench.policies.translation.locate import Directory, equal_area_entries

FREE = "0111100111111100"
CARDS = [("gpu0", 64, 12.0), ("gpu1", 32, 24.0), ("cpu0", 128, 6.0)]


class Method(NamedTuple):
    """A method, and keyword arguments that it takes."""

    name: str
    ask: Callable[..., Any]
    given: dict[str, Any]


METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "placement": {
        "place": {"free": FREE, "length": 4},
        "start_map": {"free": FREE, "length": 4},
        "allocator": {"segments": 16, "release": "strict", "seed": 0},
        "admitted": {"length": 4, "segments": 16},
    },
    "probe": {"longest": {"free": FREE}, "cost": {"blocks": 16}},
    "serve": {
        "offsets": {"requests": [2, 9, 0, 5]},
        "served": {"requests": [2, 9, 0, 5], "active": [True, False, True, True]},
    },
    "units": {"split": {"waves": 5, "units": 4, "at": 1, "taken": (1, 0, 2, 0), "most": 40}},
    "stuck": {
        "parts": {"waves": 4, "independent": True, "priority": 1, "levels": 4},
        "rounds_until_asked": {"at": 3},
    },
    "admission": {
        "admits": {"held": [[(0, 0), (1, 2)], []], "module": 1, "channel": 1, "kernel": 2, "priority": 1, "die": 0}
    },
    "die": {
        "die_of": {
            "fits": [0, 2],
            "free": [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]],
            "kernel": 1,
            "channel": 0,
            "group": 3,
            "groups": 8,
            "of_channel": 2,
            "of_all": 5,
        }
    },
    "selection": {"rounds": {"channels": 3, "levels": 4, "seed": 0}},
    "priority": {
        "order": {"cycle": 5, "levels": 4},
        "ranks": {"priorities": [1, 3], "levels": 4, "cycle": 9, "waited": [0, 7]},
    },
    "choice": {
        "choose": {
            "rows": [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]],
            "after": [1],
            "seed": 0,
            "names": ["vgpr", "sgpr", "waves", "shared", "workgroups", "acc"],
            "totals": [8] * 6,
            "demand": [1] * 6,
            "heat": [1.0, 2.0],
            "cycle": 4,
            "free": [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]],
            "longest": [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]],
            "recent": [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]],
            "modules": [0, 1],
        },
    },
    "cache": {"block_bytes": {"size": 700}, "segment_bytes": {"size": 700}},
    "cache_fit": {"take": {"cached": [64, 32, 128], "size": 32}},
    "frames": {"take": {"free": [(2, 2), (6, 3), (10, 6)], "count": 7}},
    "idle_release": {"returned": {"cached": [64, 32, 128], "limit": 100}},
    "target": {
        "choose": {
            "size": 16,
            "cards": CARDS,
            "history": {"gpu0": 2},
            "tie": "most_free",
            "after": ["gpu1"],
            "seed": 0,
            "hops": [1, 1, 2],
            "held": [0, 0, 0],
            "totals": [64, 64, 128],
            "hosts": [0, 0, 1],
        },
        "scores": {"size": 16, "cards": CARDS, "history": {"gpu0": 2}, "after": ["gpu1"], "seed": 0},
    },
    "eviction": {"order": {"inserted": "abcd", "touched": "ab", "seed": 0}},
    "fill": {"decide": {"bitmaps": ["1100", "1110", "1000"], "core": 0, "entries": 4, "seed": 0}},
    "peer": {"ask": {"holders": "0110", "core": 0, "hops": [0, 1, 2, 3], "load": [0, 5, 1, 0], "seed": 0}},
    "remote_fill": {"copies": {"shared": 2, "degree": 2, "held": 3, "entries": 8, "seed": 0}},
    "locate": {"plan": {"private_entries": 32}},
}
"""What each question is asked by a person."""
SOME: dict[tuple[str, str], dict[str, Any]] = {
    ("eviction", "victim"): {"degrees": (3, 2, 1, 1)},
    ("eviction", "protected"): {"degree": 2},
    ("probe", "longest_each"): {"free": ["0110", "110"]},
    ("probe", "trace"): {"free": FREE},
    ("probe", "sharing_cost"): {"blocks": [64, 48]},
    ("probe", "schedule"): {"blocks": [64, 48]},
}
"""What only some policies are asked."""


def usual(cls: type[Policy]) -> Policy:
    """A policy whose levers go with memories of sixteen blocks."""
    small = {"groups": 4, "run_lengths": (1, 2, 4, 8, 16)}
    return cls(**{name: value for name, value in small.items() if name in cls.levers})


def methods() -> list[Method]:
    """The methods of every registered policy, and what stands beside them."""
    load_all()
    results = []
    for question, requested in METHODS.items():
        for name, cls in policies(question).items():
            if not cls.built_in:
                continue
            policy = usual(cls)
            some = {method: given for (of, method), given in SOME.items() if of == question and hasattr(cls, method)}
            if name == "shared_run":
                some["trace"] = {"free": ["0110", "110"]}
            if name == "most_residual":
                policy = cls(weights=(1.0,) * 6)
            results += [
                Method(f"{name}.{method}", getattr(policy, method), g) for method, g in {**requested, **some}.items()
            ]
    return [*results, *_others()]


def _others() -> list[Method]:
    serve, placement = policies("serve")["warp_aggregated"](), policies("placement")["first_fit"]()
    rounds = policies("selection")["served_marks"]().rounds(channels=3)

    def allocated(length: Any, start: Any, given_back: Any) -> None:
        memory = placement.allocator(16)
        memory.take(length)
        memory.give_back(start, given_back)

    def heap(requests: Any, active: Any, address: Any, **more: Any) -> None:
        made = DeviceHeap(serve, **more)
        made.malloc(requests, active)
        made.free(address)

    def picked(**head: Any) -> Any:
        return rounds.pick(Head(**head), 2)

    sizes = {"heap_bytes": 1024, "granule_bytes": 4, "base": 0, "seed": 0}
    head = {"channel": 0, "priority": 1, "fits": True, "rank": 1, "waited": 3, "waves": 2}
    return [
        Method("allocator.take", allocated, {"length": 4, "start": 0, "given_back": 4}),
        Method("device_heap", heap, {"requests": [4, 8], "active": [True, True], "address": 0, **sizes}),
        Method("rounds.pick", picked, head),
        Method("rounds.pick a number", lambda channel: rounds.pick(channel), {"channel": 1}),
        Method("split_table.row", SplitTable().row, {"waves": 5}),
        Method("cores_of", cores_of, {"bitmap": "0110"}),
        Method("degree", degree, {"bitmap": "0110"}),
        Method(
            "equal_area_entries",
            lambda **sizes: equal_area_entries(Directory(), **sizes),
            {"private_entries": 32, "private_ways": 4, "cores": 16, "page_number_bits": 36},
        ),
        Method("circuit trace", circuit_trace, {"free": FREE, "length": 4}),
        Method("circuit cost", circuit_cost, {"segments": 16}),
        Method("shared trace", shared_trace, {"free": ["0110", "110"], "width": 16}),
        Method(
            "rounds", lambda **given: SelectionStepper(rounds.policy, **given), {"channels": 3, "levels": 4, "seed": 0}
        ),
    ]
