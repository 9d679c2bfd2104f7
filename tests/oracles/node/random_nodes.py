"""Small nodes by chance, as dictionaries: what the twin and the engine are compared on (spec 6, R19)."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracles.node.description import KIB, MIB
from tests.oracles.node.policies import TABLE

COUPLED = {
    "memory": ["wait"],
    "pages": ["4k", "64k", "2m", "largest", "neutral"],
    "shootdown_cycles": [0, 50, 300],
    "shootdown_to": ["holders", "all"],
    "touches_hold": ["group", "none"],
    "remote": ["link"],
    "malloc": ["wait"],
    "history": [True],
    "pages_known": ["own", "group_before"],
    "touches_a_phase": [2, 5, 8],
    "kernel_card": ["home", "most_bytes"],
    "chunk_bytes": [64 * KIB, 256 * KIB],
}
"""Levers of a node in which everything acts on everything."""


def random_node(seed: int, neutral: bool = False) -> dict[str, Any]:
    """Return a node of one to three cards with two or three applications; every coupling on unless neutral."""
    random = Random(seed)
    cards = random.choice([1, 2, 3])
    node = {
        "machine": _machine(random, cards),
        "applications": [_application(random, random.randrange(cards)) for _ in range(random.choice([2, 3]))],
        "couplings": {} if neutral else {name: random.choice(values) for name, values in COUPLED.items()},
        "policies": {question: random.choice(list(names)) for question, names in TABLE.items()}
        | {"stuck_threshold": random.choice([4, 40])},
        "seed": seed,
    }
    _reach(Random(~seed), node)
    return node


def _reach(random: Random, node: dict[str, Any]) -> None:
    """Let the touches of a node reach far or not, in elements of several sizes."""
    steps = [step for one in node["applications"] for stream in one["streams"] for step in stream if "kernel" in step]
    for touch in (touch for step in steps for phase in step["kernel"]["phases"] for touch in phase["touches"]):
        touch["halo"], touch["stride"] = random.choice([1, 300, 100 * KIB]), random.choice([1, 3, 40])
        touch["element_bytes"] = random.choice([128, 5000, 64 * KIB])


def _machine(random: Random, cards: int) -> dict[str, Any]:
    links = [(a, b) for b in range(cards) for a in range(b)]
    return {
        "cards": [_card(random) for _ in range(cards)],
        "links": [
            {"cards": pair, "gbps": random.choice([4, 25.5]), "latency_ns": random.choice([0, 70])} for pair in links
        ],
        "pool": {
            "request_ns": random.choice([0, 33]),
            "driver_ns": random.choice([0, 500]),
            "release_ns": 10,
            "idle_limit_bytes": random.choice([None, 0, MIB]),
            "when_full": random.choice(["refuse", "wait"]),
        },
        "clock_mhz": random.choice([1000, 1410]),
        "local_cycles": random.choice([0, 7]),
    }


def _card(random: Random) -> dict[str, Any]:
    return {
        "memory_bytes": random.choice([12 * MIB, 32 * MIB]),
        "dispatch": {
            "modules": random.choice([1, 2, 4]),
            "units": random.choice([1, 2]),
            "wave_slots": random.choice([4, 6]),
            "vgpr_blocks": 16,
            "sgpr_blocks": 8,
            "shared_segments": 16,
            "history_cycles": 512,
            "dispatches_a_round": random.choice([1, 3]),
            "round_cycles": random.choice([1, 5]),
            "weights": {"matrix": 16.0, "translation_stall": 0.5},
        },
        "translation": {
            "private_entries": random.choice([2, 4]),
            "private_ways": random.choice([0, 2]),
            "shared_entries": random.choice([0, 8]),
            "registers": random.choice([1, 3]),
            "walkers": random.choice([1, 2]),
            "walk_queue": random.choice([0, 1, 2]),
            "private_cycles": random.choice([0, 1]),
            "directory_cycles": random.choice([0, 2]),
            "walk_cycles": random.choice([60, 400]),
            "network": random.choice(["crossbar", "ring"]),
            "remote_tries": random.choice([1, 2]),
        },
        "heap": {
            "heap_bytes": random.choice([0, 4 * KIB]),
            "hold_cycles": random.choice([0, 9]),
            "split_cycles": random.choice([0, 4]),
            "granule_bytes": 1024,
        },
    }


def _application(random: Random, home: int) -> dict[str, Any]:
    tensors = {name: random.choice([5 * KIB, 300 * KIB, 3 * MIB, 6 * MIB]) for name in "abc"}
    first = [{"allocate": name, "bytes": size} for name, size in tensors.items()]
    kernels = [_kernel(random, list(tensors)) for _ in range(3)]
    return {
        "home": home,
        "priority": random.choice([1, 2, 4]),
        "arrival": random.choice([0, 0, 300]),
        "streams": [
            [*first[:2], *kernels[:2], {"wait": 1}, {"free": "a"}],
            [first[2], kernels[2], {"free": "c"}],
        ],
    }


def _kernel(random: Random, tensors: list[str]) -> dict[str, Any]:
    phases = [_phase(random, tensors) for _ in range(random.choice([1, 2]))]
    waves = random.choice([1, 2, 4])
    kernel = {
        "groups": random.choice([1, 3, 6]),
        "waves": waves,
        "phases": phases,
        "independent": random.random() < 0.5,
    }
    return {"kernel": kernel | {"vgpr_blocks": random.choice([0, 3]), "shared_segments": random.choice([0, 5, 11])}}


def _phase(random: Random, tensors: list[str]) -> dict[str, Any]:
    patterns = ["slice", "halo", "shared", "gather", "stride"]
    touches = [
        {
            "tensor": random.choice(tensors),
            "pattern": random.choice(patterns),
            "bytes": random.choice([None, 900, 5000]),
        }
        for _ in range(random.choice([0, 1, 2]))
    ]
    return {
        "compute": random.choice([0, 20, {"uniform": [10, 90]}, {"exponential": 50}]),
        "instructions": {"matrix": random.choice([0, 40]), "load": 7},
        "touches": touches,
        "mallocs": random.choice([(), (), (24, 5000, 700)]),
    }
