"""A long stretch of hits of the only core is skimmed: each row is only asked whether it hits.

What such a stretch leaves behind is the order in which its entries were used last, and that the rows tell, read from
the last one backward: in a few thousand rows every entry that is used at all was met. Each is then made the newest of
its set, the one that was used last at the end, as if each row had done it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.translation.finding import NOWHERE
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import Run
from workbench.structures.set_assoc import HELD, touch

ONLY: Any = np.int64(0)
"""The only core, and the only set."""


@noinline
def skim_hits(run: Run, row: int, stop: int) -> int:
    """Serve rows as long as they hit; return the first that is not served. A table by page says where pages lie."""
    number, where, tlbs, began = run.rows.number, run.state.where, run.rules.tlbs, row
    while row < stop and to_int64(where[to_int64(number[row]) * tlbs]) != NOWHERE:
        row += 1
    _touch_in_order(run, _list_used(run, began, row))
    return row


@kernel
def _list_used(run: Run, row: int, end: int) -> int:
    """List the entries that rows use, the one used last first, and return how many they are."""
    state, count, held = run.state, 0, run.state.tlbs.sets[HELD]
    while end > row and count < held:
        end -= 1
        entry = to_int64(state.where[to_int64(run.rows.number[end]) * run.rules.tlbs])
        if not state.is_used[entry]:
            state.is_used[entry], state.last_used[count] = 1, entry
            count += 1
    return count


@kernel
def _touch_in_order(run: Run, count: int) -> None:
    """Make each of the listed entries the newest, from the last of the list to its first."""
    state = run.state
    for place in range(count - 1, -1, -1):
        entry = state.last_used[place]
        state.is_used[entry] = 0
        touch(state.tlbs, ONLY, entry)
