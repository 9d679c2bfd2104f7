"""The page-walk cache: upper levels of the page table that walks need not read again (spec 4, section 7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.translation.shape import LEVEL_BITS
from workbench.engines.translation.state import Run
from workbench.engines.translation.walk_queue import levels_saved
from workbench.structures.key_index import look_up, put_key, take_key
from workbench.structures.set_assoc import NONE, OLDEST, PAGE, ROW, insert, remove, take_free, touch

ONLY_SET: Any = np.int64(0)


@kernel
def levels_to_read(run: Run, key: int, name: int) -> int:
    """Return the levels of the page table that a walk reads."""
    saved = levels_saved(run, key)
    return _levels_uncached(run, name, saved) if run.rules.walk_cache else run.rules.levels - saved


@noinline
def _levels_uncached(run: Run, name: int, saved: int) -> int:
    """Return the levels that neither a large page nor the page-walk cache saves."""
    for upper in range(saved + 1, run.rules.levels):
        if look_up(run.state.walk_index, ONLY_SET, _upper_key(name, upper)) != NONE:
            return upper - saved
    return run.rules.levels - saved


@noinline
def keep_levels(run: Run, key: int, name: int) -> None:
    """Keep the upper levels of a walk that has ended, the highest first."""
    for kept in range(run.rules.levels - 1, levels_saved(run, key), -1):
        _keep_upper(run, _upper_key(name, kept))


@kernel
def _upper_key(name: int, level: int) -> int:
    """Return an upper level of the page table, as the cache knows it: the part of the page's name, and the level."""
    return (name >> (LEVEL_BITS * level)) * 4 + level


@noinline
def _keep_upper(run: Run, key: int) -> None:
    table, index = run.state.walk_cache, run.state.walk_index
    entry = look_up(index, ONLY_SET, key)
    if entry != NONE:
        touch(table, ONLY_SET, entry)
        return
    entry = take_free(table, ONLY_SET)
    if entry == NONE:
        entry = table.sets[OLDEST]
        take_key(index, ONLY_SET, table.entries[entry * ROW + PAGE])
        remove(table, ONLY_SET, entry)
        entry = take_free(table, ONLY_SET)
    insert(table, ONLY_SET, entry, key, ONLY_SET, NONE)
    put_key(index, ONLY_SET, key, entry)
