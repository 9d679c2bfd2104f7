"""Which way of serving a warp keeps its pieces on one card when the heap has outgrown the card?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.machine import Board
from workbench.records.malloc import MallocRecord
from workbench.studies.pool.heap_segments import HeapGrowth, HeapOnCards, pieces_on_cards, segment_requests
from workbench.studies.simulated import simulated
from workbench.workloads.pool_file import pool_columns
from workbench.workloads.write_file import write_file

SERVES = ("warp_aggregated", "per_thread")
TARGETS = ("max_bandwidth", "most_free", "round_robin")
SEGMENTS = (1 << 12, 1 << 14, 1 << 16)
LEFT = 1 << 17


class WarpsAndCards(NamedTuple):
    """One way of serving warps, choosing cards and growing."""

    serve: str
    target: str
    segment_bytes: int
    heap: HeapOnCards
    """Of the card that is short of memory."""


def heaps_on_pool(
    serves: Sequence[Any] = SERVES,
    targets: Sequence[Any] = TARGETS,
    segments: Sequence[int] = SEGMENTS,
    workload: Any = "mixed_sizes",
    machine: Any = "dgx_1v",
    left_bytes: int = LEFT,
    seed: int = 0,
) -> list[WarpsAndCards]:
    """Let the threads of every GPU of a board ask their card's heap for memory; the first GPU has little left.

    GPU k runs the workload's seed + k. All have the same heap, one after another grows by segments of the pool, and of
    each combination the first GPU's heap is told, in the order of the arguments.

    Parameters
    ----------
    serves : sequence
        Policies of the engine `malloc` for the question serve, as a sweep says them.
    targets : sequence
        Policies of the engine `pool` for the question target.
    segments : sequence of int
        Bytes of a segment.
    workload, machine
        Of the engine `malloc`, and the board.
    left_bytes : int
        What the first GPU has left for its heap; the others have all their memory.

    Raises
    ------
    InputError
        Nothing is to be compared, or one of the settings is wrong.

    References
    ----------
    spec 5, section 8 (spec 2: the warp allocator's heap is one region; pieces of one warp should not straddle cards).

    Examples
    --------
    >>> few = {"synthetic": "random_mallocs", "threads": 512}
    >>> found = heaps_on_pool(["warp_aggregated"], workload=few, machine="table_300", left_bytes=1 << 14)
    >>> [(one.target, one.heap.straddling_percent) for one in found if one.segment_bytes == 1 << 12]
    [('max_bandwidth', 6.25), ('most_free', 6.25), ('round_robin', 81.25)]
    """
    if not (serves and targets and segments):
        raise InputError("heaps_on_pool needs at least one way to serve, one target and one size of a segment.")
    board = Board.read(machine)
    short = _short_of_memory(board, left_bytes)
    gpus = [place for place, card in enumerate(board.cards) if card.kind == "gpu"]
    rows = []
    for serve in serves:
        heaps = {card: _malloc_run(serve, workload, seed + k) for k, card in enumerate(gpus)}
        for target in targets:
            for size in segments:
                growth = HeapGrowth.read({"segment_bytes": size})
                heap = _on_cards(heaps, growth, target, short, seed)[0]
                rows.append(WarpsAndCards(str(serve), str(target), size, heap))
    return rows


def _short_of_memory(board: Board, left_bytes: int) -> Board:
    """Return the board with so much left on its first GPU."""
    first = next((card for card in board.cards if card.kind == "gpu"), None)
    if first is None:
        raise InputError("heaps_on_pool needs a board with a GPU. Got one of CPUs alone.")
    less = first.but(used_bytes=max(first.memory_bytes - left_bytes, 0))
    return board.but(cards=tuple(less if card is first else card for card in board.cards))


def _malloc_run(serve: Any, workload: Any, seed: int) -> MallocRecord:
    config = {"engine": "malloc", "machine": "h100", "workload": workload, "policy": {"serve": serve}}
    record: MallocRecord = simulated(config, seed)
    return record


def _on_cards(
    heaps: dict[int, MallocRecord], growth: HeapGrowth, target: Any, board: Board, seed: int
) -> list[HeapOnCards]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "segments.csv"
        write_file([pool_columns(segment_requests(heaps, growth), board.ids)], place)
        workload = {"file": str(place)}
        config = {"engine": "pool", "machine": board, "workload": workload, "policy": {"target": target}}
        return pieces_on_cards(heaps, simulated(config, seed), growth)
