"""The engine `torch_allocator`: what PyTorch's caching allocator gets from the driver for a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.recording import live_before, recorded_bytes, recording_of
from workbench.engines.torch_allocator.replay import (
    NOTHING_TO_COMPARE,
    ReplayInput,
    ReplayResult,
    asking_of,
    play,
    replay_of,
)
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.errors import InputError
from workbench.levers import lever
from workbench.machine import Board
from workbench.records.torch_allocator import AllocatorRecord, CallCosts, CardRun, ReplayFidelity
from workbench.streams import Streams
from workbench.workloads.allocator_log import AllocatorLog
from workbench.workloads.pool_requests import TensorRequests

NOTHING_HELD = np.zeros(0, np.int64)


class AllocatorOptions(AllocatorSettings):
    """PyTorch's settings, the card, and what the driver's calls cost."""

    settings: Literal["named", "recorded"] = lever(
        "named",
        description="recorded: a snapshot from where it began, under its own settings, compared with it; named: from a "
        "fresh start under those of the options",
    )
    card_bytes: int = lever(0, least=0, most=1 << 50, unit="bytes", description="of each card; 0 = it never runs out")
    alloc_ns: int = lever(
        CallCosts().alloc_ns, least=0, most=10**9, unit="ns", description="a call that gets a segment (cudaMalloc)"
    )
    free_ns: int = lever(
        CallCosts().free_ns, least=0, most=10**9, unit="ns", description="a call that gives one back (cudaFree)"
    )
    page_ns: int = lever(
        CallCosts().page_ns, least=0, most=10**9, unit="ns", description="a page that is mapped or unmapped (cuMemMap)"
    )
    ns_per_mib: int = lever(
        CallCosts().ns_per_mib, least=0, most=10**9, unit="ns", description="more for each MiB that is got"
    )

    def check(self) -> None:
        super().check()
        if self.settings == "recorded":
            changed = [name for name in AllocatorSettings.levers if getattr(self, name) != self.levers[name].default]
            if self.card_bytes or changed:
                which = "card_bytes" if self.card_bytes else changed[0]
                raise InputError(
                    f"{self.name}.{which} must stay as it is with settings: recorded, which replays its own."
                )

    @property
    def chosen(self) -> AllocatorSettings:
        """Return the settings alone."""
        return AllocatorSettings(**{name: getattr(self, name) for name in AllocatorSettings.levers})

    @property
    def costs(self) -> CallCosts:
        """Return the costs of the driver's calls."""
        return CallCosts(*(getattr(self, name) for name in CallCosts._fields))


class TorchAllocator:
    """PyTorch's caching allocator under any of its settings; nothing of it is left to a policy."""

    name = "torch_allocator"
    revision = 3
    machine: ClassVar[type[Board]] = Board
    workload_kind = "tensor_requests"
    options: ClassVar[type[AllocatorOptions]] = AllocatorOptions
    slots: ClassVar[Mapping[str, str]] = {}

    def question_of(self, slot: str) -> str:
        """Return the question of a slot; there is none."""
        raise KeyError(slot)

    def validate(self, setup: Setup, seed: int) -> None:
        """Refuse a program without a history where the recorded settings are asked for."""
        _check(setup.workload.tensor_requests(setup.machine, Streams(seed)), _options(setup))

    def simulate(self, setup: Setup, seed: int, events: bool = False) -> AllocatorRecord:
        """Serve the program, on each card by an allocator of its own."""
        requests, options = setup.workload.tensor_requests(setup.machine, Streams(seed)), _options(setup)
        _check(requests, options)
        if options.settings == "recorded":
            return _as_recorded(requests.logs, options)
        requested = [asking_of(recording_of(log)) for log in requests.logs] or [_asking(requests)]
        cards = tuple(_served(one, options) for one in requested)
        return _record(cards, None, options)


def _options(setup: Setup) -> Any:
    return setup.options


def _check(requests: TensorRequests, options: AllocatorOptions) -> None:
    if options.settings == "recorded" and not requests.logs:
        raise InputError("options.settings: recorded needs a memory snapshot as workload; use named.")


def _asking(requests: TensorRequests) -> ReplayInput:
    """Return a program as requests to the allocator: a stream is an owner, none is private."""
    count = len(requests.kind)
    streams = int(requests.stream.max(initial=0)) + 1
    requested = rows.Requests(requests.kind, requests.handle, requests.size, requests.stream, np.full(count, -1))
    return ReplayInput(requested, np.arange(count), np.zeros(streams, np.int64), 0, np.zeros(0, np.int64))


def _served(replay: ReplayInput, options: AllocatorOptions) -> CardRun:
    rules = options.chosen.rules(replay.private, options.card_bytes or None)
    return _run_of(replay.requests, play(replay.requests, rules, replay.start), replay.before)


def _as_recorded(logs: tuple[AllocatorLog, ...], options: AllocatorOptions) -> AllocatorRecord:
    replays = [replay_of(log) for log in logs]
    exact = sum((one.exactness for one in replays), NOTHING_TO_COMPARE)
    reproduced = ReplayFidelity(
        segment_allocs=exact.segment_allocs,
        segment_allocs_reproduced=exact.segment_allocs_reproduced,
        allocs=exact.allocs,
        addresses_reproduced=exact.addresses_reproduced,
        recorded_reserved_peak_bytes=sum(int(recorded_bytes(one.recording).reserved.max()) for one in replays),
    )
    cards = tuple(_run_of(one.recording.requests, one.played, 0, live_before(one.recording)) for one in replays)
    return _record(cards, reproduced, options)


def _record(
    cards: tuple[CardRun, ...], reproduced: ReplayFidelity | None, options: AllocatorOptions
) -> AllocatorRecord:
    return AllocatorRecord(cards, reproduced, options.costs)


def _run_of(requests: rows.Requests, played: ReplayResult, before: int, held: np.ndarray = NOTHING_HELD) -> CardRun:
    return CardRun(
        kind=requests.kind,
        handle=requests.handle,
        size=np.where(requests.kind == rows.ALLOC, requests.size, 0),
        placed=played.placed,
        live=_live(requests, played, held),
        reserved=played.reserved,
        reserved_at_start=played.reserved_at_start,
        calls=played.calls,
        before=before,
        flushes=played.flushes,
        pages_mapped=played.pages_mapped,
    )


def _live(requests: rows.Requests, played: ReplayResult, held: np.ndarray) -> np.ndarray:
    """Return the bytes that were asked for and granted, and not given back after each request: int64[requests].

    A block is given back by the first of its rows that does so.

    Parameters
    ----------
    held : int64[blocks]
        Bytes of the blocks, the first handles, that were live at the beginning.
    """
    granted = (requests.kind == rows.ALLOC) & (played.placed >= 0)
    gives = np.flatnonzero(np.isin(requests.kind, (rows.FREE, rows.DEFER, rows.COMPLETE)))
    _, first = np.unique(requests.handle[gives], return_index=True)
    size_of = np.zeros(max(int(requests.handle.max(initial=0)) + 1, len(held)), np.int64)
    size_of[: len(held)] = held
    size_of[requests.handle[granted]] = requests.size[granted]
    change = np.where(granted, requests.size, 0)
    change[gives[first]] -= size_of[requests.handle[gives[first]]]
    return int(held.sum()) + np.cumsum(change)
