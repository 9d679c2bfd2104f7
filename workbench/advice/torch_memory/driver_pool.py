"""What a snapshot tells that was recorded under `backend:cudaMallocAsync`, where no setting of PyTorch's is replayed.

Requests are then served by the memory pool of CUDA's driver, whose rules are not published. PyTorch's own settings are
read by its native allocator alone (docs/source/notes/cuda.rst). PyTorch sets the release threshold of the pool to the
maximum, and `empty_cache` trims the pool to what is used (c10/cuda/CUDAMallocAsyncAllocator.cpp). PyTorch's versions so
far record no history and give no snapshot under that backend, so such a file tells of another version or allocator.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.torch_allocator.settings import VARIABLES
from workbench.number_text import bytes_said
from workbench.workloads.allocator_log import ALLOC, FREE_COMPLETED, INACTIVE, OOM, AllocatorLog

_BACKEND = re.compile(r"\bbackend\s*:\s*((?:cuda|hip)MallocAsync)\b")
NATIVE_ONLY = "expandable_segments, max_split_size_mb, garbage_collection_threshold and roundup_power2_divisions"
"""The settings that only the native allocator reads."""


def driver_backend(settings: Mapping[str, Any]) -> str:
    """Return the name of the driver's allocator that a snapshot's settings choose; empty = PyTorch's own.

    >>> driver_backend({"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}), driver_backend({})
    ('cudaMallocAsync', '')
    """
    chosen = (_BACKEND.search(str(settings.get(name, ""))) for name in VARIABLES)
    return next((match[1] for match in chosen if match), "")


class CardOfDriverPool(NamedTuple):
    """The requests of one card."""

    device: int
    live_peak_bytes: int
    events: int
    peak_event: int
    """After how many events most was live."""
    holder: str
    """The line that held most then; empty = no stack tells it."""
    holder_bytes: int
    asked_bytes: int
    """Those of the last request that failed; 0 = none did."""
    left_bytes: int
    """What the card still had then; -1 = not told."""


class DriverPoolSnapshot(NamedTuple):
    """A snapshot whose settings choose the pool of CUDA's driver."""

    path: str
    backend: str
    cards: tuple[CardOfDriverPool, ...]
    segments: int

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types."""
        return {
            "file": self.path,
            "history": any(card.events for card in self.cards),
            "backend": self.backend,
            "segments": self.segments,
            "cards": [card._asdict() for card in self.cards],
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """Return the figures of the requests, the meaning of the backend, and the recording to make next."""
        doubt = (
            f"The file holds {self.segments:,} segments, which {self.backend} does not make; "
            "print(torch.cuda.get_allocator_backend()) shows which allocator runs."
        )
        return [
            f"{self.path}: its settings choose backend:{self.backend}; no setting of PyTorch's allocator is replayed.",
            *(line for card in self.cards for line in _of_card(card)),
            f"{NATIVE_ONLY} have no effect under {self.backend}.",
            "PyTorch sets the release threshold of the driver's pool to the maximum: the pool keeps what it got. "
            "torch.cuda.empty_cache() gives back what is unused.",
            *([doubt] if self.segments else []),
            "To have PyTorch's settings tried, record the program once with backend:native.",
        ]


def _of_card(card: CardOfDriverPool) -> list[str]:
    failed = ""
    if card.asked_bytes:
        left = f" with {bytes_said(card.left_bytes)} left on the card" if card.left_bytes >= 0 else ""
        failed = f"GPU {card.device} ran out of memory: it asked for {bytes_said(card.asked_bytes)}{left}."
    holder = f"; most of it is held by {card.holder} ({bytes_said(card.holder_bytes)})" if card.holder else ""
    when = f" after event {card.peak_event:,} of {card.events:,}" if card.events else ""
    live = f"GPU {card.device}: {bytes_said(card.live_peak_bytes)} live at the peak{when}{holder}."
    return [failed, live] if failed else [live]


def driver_pool_of(logs: Sequence[AllocatorLog], path: str) -> DriverPoolSnapshot | None:
    """Return the figures of a snapshot of the driver's pool; None = PyTorch's own allocator was chosen."""
    backend = next(filter(None, (driver_backend(log.settings) for log in logs)), "")
    if not backend:
        return None
    telling = [log for log in logs if len(log.events.action) or len(log.blocks.size)]
    segments = sum(len(log.segments.size) for log in logs)
    return DriverPoolSnapshot(path, backend, tuple(_card(log) for log in telling), segments)


def _card(log: AllocatorLog) -> CardOfDriverPool:
    events = log.events
    sign = (events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED)
    live = np.concatenate([np.zeros(1, np.int64), np.cumsum(events.size * sign)])
    held = log.blocks.state != INACTIVE
    live += max(int(log.blocks.requested[held].sum()) - int(live[-1]), -int(live.min()))
    peak = int(np.argmax(live))
    holders: dict[int, int] = {}
    for site, size in _held_at(log, peak) if len(events.action) else _held_at_end(log):
        holders[site] = holders.get(site, 0) + size
    named = {site: size for site, size in holders.items() if site >= 0}
    first = max(named, key=lambda site: named[site], default=-1)
    failed = np.flatnonzero(events.action == OOM)[-1:]
    return CardOfDriverPool(
        device=log.device,
        live_peak_bytes=int(live[peak]),
        events=len(events.action),
        peak_event=peak,
        holder=log.sites[first] if first >= 0 else "",
        holder_bytes=named.get(first, 0),
        asked_bytes=int(events.size[failed].sum()),
        left_bytes=int(events.address[failed].sum()) if len(failed) else -1,
    )


def _held_at(log: AllocatorLog, after: int) -> list[tuple[int, int]]:
    """Return site and bytes of each block that the events up to a moment allocated and did not release."""
    columns = (column[:after].tolist() for column in (log.events.action, *log.events[1:3], log.events.site))
    held: dict[int, tuple[int, int]] = {}
    for action, address, size, site in zip(*columns, strict=True):
        if action == ALLOC:
            held[address] = site, size
        elif action == FREE_COMPLETED:
            held.pop(address, None)
    return list(held.values())


def _held_at_end(log: AllocatorLog) -> list[tuple[int, int]]:
    kept = log.blocks.state != INACTIVE
    return list(zip(log.blocks.site[kept].tolist(), log.blocks.requested[kept].tolist(), strict=True))
