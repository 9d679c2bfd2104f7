"""What the circuits of all probes share: names, sizes that fit, golden vectors by asking the probe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.vectors import Case, asked
from workbench.errors import wrong_value
from workbench.policies.probes.question import Probe, check_count
from workbench.streams import Streams
from workbench.structures.bitmaps import packed

MOST_GATES = 20_000_000
"""More than these take more memory than a laptop has."""


def begun(probe: Probe, blocks: int, **parameters: int) -> tuple[Circuit, np.ndarray]:
    """Return an empty circuit for a probe, and the wires of the state that it looks at."""
    check_count(blocks)
    probe.check_blocks(blocks)
    latency = probe.round_cycles([blocks]) - 1
    circuit = Circuit(probe.name, *sources(probe), {"BLOCKS": int(blocks), **parameters}, latency)
    return circuit, circuit.input("state", int(blocks))


def sources(probe: Any) -> tuple[str, dict[str, object]]:
    """Return what a header says: the first sentence with its source, and the levers."""
    return _first_sentence(probe), {name: getattr(probe, name) for name in probe.levers}


def cases(probe: Probe, blocks: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random states and what the probe's own plain answer is."""
    latency = probe.round_cycles([blocks]) - 1
    inverted = getattr(probe, "encoding", "free1") == "free0"
    for free in states(blocks, count, seed):
        report = probe.ask(packed(free), blocks)
        yield asked({"state": number_of(free != inverted)}, {"report": report}, latency)


def states(blocks: int, count: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Yield free maps as booleans: none free, all, then densities from sparse to full with whole ranges set."""
    draw = Streams(seed)["states"]
    yield from (np.zeros(blocks, bool), np.ones(blocks, bool))[:count]
    for k in range(count - 2):
        bits = draw.random(blocks) < (0.1, 0.5, 0.9, 0.99)[k % 4]
        for _ in range(k % 5):
            start = int(draw.integers(blocks))
            bits[start : start + int(draw.integers(1, blocks + 1))] = draw.random() < 0.7
        yield bits


def number_of(bits: np.ndarray) -> int:
    """Return bits as a number, the first the lowest.

    >>> number_of(np.array([True, False, True]))
    5
    """
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def check_gates(probe: Probe, blocks: int, gates: int, largest: int) -> None:
    """Refuse a circuit of more gates than fit, before it is built."""
    if gates > MOST_GATES:
        expected = f"must be at most {largest} for a circuit of {probe.name} (its gates would be {gates:,})"
        raise wrong_value("", "blocks", expected, blocks, largest)


def _first_sentence(probe: Any) -> str:
    references = (probe.__doc__ or "").split("References")[-1].strip("\n -")
    source = references.splitlines()[0].strip() if references else ""
    return f"{(probe.__doc__ or probe.name).split('.')[0].strip()}. After {source}"
