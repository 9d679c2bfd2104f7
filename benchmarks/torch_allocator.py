"""A million requests of ten streams by PyTorch's own rules, segment by segment and page by page."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from benchmarks.pool_replay import tensor_sizes
from benchmarks.row import fastest, row
from workbench.engines.torch_allocator.replay import play
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import ALLOC, FREE, NOTHING, Requests

REQUESTS, LIVE, STREAMS = 1_000_000, 3_000, 10


def requests_of_streams() -> Requests:
    """Allocations of ten streams in turn, each freed after about 3,000 others."""
    draw, each = np.random.default_rng(1), REQUESTS // 2
    begins = np.arange(each, dtype=np.float64)
    order = np.argsort(np.r_[begins, begins + draw.exponential(LIVE, each) + 0.5], kind="stable")
    handle = np.r_[np.arange(each), np.arange(each)][order]
    kind = np.where(order < each, ALLOC, FREE)
    owner = draw.integers(0, STREAMS, each)[handle]
    return Requests(kind, handle, tensor_sizes(draw, each)[handle], owner, np.full(REQUESTS, -1))


def torch_allocator() -> list[dict[str, Any]]:
    """Requests a second under both ways to grow; every allocation is granted."""
    requests, rows = requests_of_streams(), []
    for conf in ("", "expandable_segments:True"):
        rules = AllocatorSettings.parse(conf).rules(np.zeros(STREAMS, np.int64))
        played = play(requests, rules, NOTHING)
        assert np.count_nonzero(played.placed >= 0) == REQUESTS // 2 and not played.refused
        seconds = fastest(functools.partial(play, requests, rules, NOTHING), 3)
        rows.append(row("torch_allocator", conf or "defaults", REQUESTS, "requests", seconds))
    return rows
