"""States of a resource to ask a probe about, and two ways to ask: compiled as engines do, and in plain Python."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.errors import InputError
from workbench.policies.placement.free_map_text import as_text
from workbench.policies.probes.question import PROBE, Probe
from workbench.policies.probes.view import ProbeView
from workbench.streams import Streams
from workbench.structures.free_map import packed

Asker = Callable[[np.ndarray, int], int]
"""Takes a free map in words and its blocks, returns the report; `RAISED` where there was an exception."""

_ask = PROBE.ask
_DIGESTED = (16, 32, 64, 65, 128)


@kernel
def _asked(answer, free, blocks, params):  # type: ignore[no-untyped-def]
    return _ask(answer, ProbeView(free, blocks, params))


def compiled(probe: Probe, checked: bool = False) -> Asker:
    """Ask through the address of the compiled answer; `checked` tests every array index."""
    ready = probe.ready(checked)
    return lambda free, blocks: int(_asked(ready.answer, free, blocks, ready.params))


def plain(probe: Probe) -> Asker:
    """Call the answer in Python."""

    def ask(free: np.ndarray, blocks: int) -> int:
        try:
            return probe.ask(free, blocks)
        except Exception:
            return RAISED

    return ask


def states(blocks: int, count: int, seed: int = 0) -> Iterator[np.ndarray]:
    """Free maps: none and all free, a single free or occupied block, single blocks and whole ranges at random."""
    draw = Streams(seed)["states"]
    one = np.arange(blocks) == int(draw.integers(blocks))
    yield from (packed(bits) for bits in (one & ~one, one | ~one, one, ~one))
    for k in range(count):
        bits = draw.random(blocks) < (0.125, 0.5, 0.875)[k % 3]
        for _ in range(k % 5):
            start = int(draw.integers(blocks))
            bits[start : start + int(draw.integers(1, blocks + 1))] = draw.random() < 0.7
        yield packed(bits)


def admitted(probe: Probe, sizes: Iterable[int]) -> list[int]:
    """Of some numbers of blocks those that the probe can be built for."""
    return [blocks for blocks in sizes if _admits(probe, blocks)]


def longest(free: np.ndarray, blocks: int) -> int:
    """The longest run of free blocks, as the longest piece of the text between occupied blocks."""
    return max(len(piece) for piece in as_text(free, blocks).split("0"))


def digest(probe: Probe, asker: Callable[[Probe], Asker]) -> str:
    """A digest of the reports of some fifty states: the same in every process, compiled or not."""
    ask = asker(probe)
    reports = [(n, ask(free, n)) for n in admitted(probe, _DIGESTED) for free in states(n, 8)]
    return hashlib.blake2b(repr(reports).encode(), digest_size=8).hexdigest()


def _admits(probe: Probe, blocks: int) -> bool:
    try:
        probe.check_blocks(blocks)
    except InputError:
        return False
    return True
