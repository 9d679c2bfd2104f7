"""The compiled allocator against the one of lists, on random streams of requests under every setting."""

import random

import numpy as np
import pytest

from tests.oracles.torch_allocator import MIB, UNLIMITED, Allocator
from tests.oracles.torch_allocator import Rules as Plain
from tests.slow import seeds
from workbench.engines.torch_allocator.replay import play
from workbench.engines.torch_allocator.settings import INTERVALS, AllocatorSettings
from workbench.engines.torch_allocator.state import (
    ALLOC,
    COMPLETE,
    DEFER,
    EMPTY_CACHE,
    FREE,
    MAKE_FREEABLE,
    NOTHING,
    Requests,
)

PRIVATE = (0, 0, 1, 1, 0)
"""Five owners: three streams without a private pool, two in one."""


def random_requests(chance, count):
    """Sizes of all kinds, many of them equal; blocks back in any order, some later; caches emptied now and then."""
    rows, live, awaited, owners, sizes = [], [], [], {}, {}
    usual = [chance.randrange(1, 60 * MIB) for _ in range(6)] + [512, MIB, MIB + 1, 2 * MIB, 10 * MIB, 20 * MIB]
    for handle in range(count):
        draw = chance.random()
        if draw < 0.55 or not (live or awaited):
            size = chance.choice(usual) if chance.random() < 0.7 else int(2 ** chance.uniform(0, 27))
            sizes[handle], owners[handle] = size, chance.choice([0, 0, 0, 1, 2, 3, 4])
            rows.append((ALLOC, handle, size, owners[handle], -1))
            live.append(handle)
        elif draw < 0.9 and live:
            gone = live.pop(chance.randrange(len(live)))
            rows.append((FREE, gone, 0, owners[gone], -1))
        elif draw < 0.94 and live:
            gone = live.pop(chance.randrange(len(live)))
            awaited.append(gone)
            rows.append((DEFER, gone, 0, owners[gone], -1))
        elif draw < 0.975 and awaited:
            gone = awaited.pop(0)
            rows.append((COMPLETE, gone, 0, owners[gone], -1))
        elif draw < 0.99:
            rows.append((EMPTY_CACHE, 0, 0, 0, -1))
        else:
            rows.append((MAKE_FREEABLE, 0, 0, 2, -1))
    return rows


def random_settings(chance):
    """Any setting alone and beside the others."""
    divisions = chance.choice([(0,), (4,), (2, 0), (8, 4, 1, 0, 2), (1 << 12,)])
    return AllocatorSettings(
        max_split_size_mb=chance.choice([0, 0, 20, 24, 40]),
        max_non_split_rounding_mb=chance.choice([20, 20, 32]),
        roundup_power2_divisions=tuple(divisions[k % len(divisions)] for k in range(INTERVALS)),
        garbage_collection_threshold=chance.choice([0.0, 0.3, 0.6]),
        expandable_segments=chance.choice([False, True]),
        large_segment_size_mb=chance.choice([20, 20, 11, 12]),
        per_process_fraction=chance.choice([1.0, 1.0, 0.5, 0.9]),
        search_after_flush=chance.choice([False, False, True]),
    )


def plainly(settings, card):
    """The same settings as the twin holds them."""
    limits = card and settings.per_process_fraction < 1
    return Plain(
        max_split=settings.max_split_size_mb * MIB or UNLIMITED,
        rounding=settings.max_non_split_rounding_mb * MIB,
        divisions=settings.roundup_power2_divisions,
        gc=settings.garbage_collection_threshold,
        expandable=settings.expandable_segments,
        large_segment=settings.large_segment_size_mb * MIB,
        fraction=settings.per_process_fraction if limits else None,
        card=card or 0,
        searches_again=settings.search_after_flush,
    )


def by_twin(rows, settings, card):
    """What the twin places where, what it asks of the driver row by row, and what it holds afterwards."""
    twin = Allocator(plainly(settings, card), PRIVATE)
    placed, calls, reserved, where = [], [], [], {}
    for row, (kind, handle, size, owner, _) in enumerate(rows):
        address = None
        if kind == ALLOC:
            address = where[handle] = twin.malloc(owner, size)
        elif kind == EMPTY_CACHE:
            twin.empty_cache()
        elif kind == MAKE_FREEABLE:
            twin.freeable.add(PRIVATE[owner])
        elif where[handle] is not None:
            more = () if kind == FREE else (handle,)
            {FREE: twin.free, DEFER: twin.defer, COMPLETE: twin.complete}[kind](where[handle], *more)
        placed.append(-1 if address is None else address)
        calls.extend((row, *call) for call in twin.calls)
        twin.calls.clear()
        reserved.append(twin.reserved())
    return placed, calls, reserved


def columns(rows):
    return Requests(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))


@pytest.mark.bounds
@pytest.mark.parametrize("seed", seeds(40, 360))
def test_agrees_with_the_allocator_of_lists(seed):
    chance = random.Random(seed)
    settings, card = random_settings(chance), chance.choice([None, 300 * MIB, 160 * MIB, 96 * MIB])
    rows = random_requests(chance, 250)
    placed, calls, reserved = by_twin(rows, settings, card)
    played = play(columns(rows), settings.rules(np.array(PRIVATE), card), NOTHING, start_address=0)
    assert played.placed.tolist() == placed, settings
    assert played.reserved.tolist() == reserved
    assert sorted(map(tuple, played.calls[:, :3].tolist())) == sorted(calls)
    assert played.refused == sum(p == -1 for p, row in zip(placed, rows, strict=True) if row[0] == ALLOC)
