"""Shoot-downs on their way to private TLBs: of an unmapping, and of what leaves an inclusive shared TLB (E13, E15)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.filling import SILENT, TELLS, drop_private
from workbench.engines.translation.finding import NOWHERE, find
from workbench.engines.translation.knowing import forget_beliefs, forget_records
from workbench.engines.translation.network import NO_NOTE, forward, send
from workbench.engines.translation.reporting import ONE_MESSAGE, count_messages, log
from workbench.engines.translation.scheduling import KIND, NEWS
from workbench.engines.translation.state import Run
from workbench.records import translation as kinds
from workbench.records.translation import MESSAGES
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, has_core, next_core
from workbench.structures.set_assoc import NONE, set_of

INVALIDATE: Any = np.int64(kinds.INVALIDATE)
SHOT: Any = np.int64(MESSAGES.index("shootdown"))
OF_INCLUSION: Any = np.int64(-1)
"""Instead of the core that unmaps."""


@noinline
def shoot_down_holders(run: Run, page: int, row: int, now: int) -> None:
    """Tell the holders of a page that left an inclusive shared TLB, which lies beside the core in the middle."""
    rules, state, centre = run.rules, run.state, run.rules.cores // 2
    key, of = state.key_of[page], OF_INCLUSION
    peer = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
    while peer != NOBODY:
        if peer == centre:
            count_messages(run, SHOT, ONE_MESSAGE, now)
            forward(run, KIND.shoot_down, NEWS, centre, key, row, of, page, NO_NOTE, peer, peer, now, now)
        else:
            send(run, KIND.shoot_down, NEWS, centre, key, row, of, page, NO_NOTE, centre, peer, now, now, SHOT)
        peer = next_core(state.held, page * rules.words, rules.words, peer + 1)
    forget_records(run, page)


@noinline
def shoot_down_others(run: Run, core: int, page: int, key: int, row: int, now: int) -> int:
    """Tell the holders of a page that a core unmaps, or every core; return how many are told."""
    rules, state, informed = run.rules, run.state, 0
    for other in range(rules.cores):
        if other != core and (not rules.targeted or has_core(state.held, page * rules.words, other)):
            send(run, KIND.shoot_down, NEWS, core, key, row, core, page, NO_NOTE, core, other, now, now, SHOT)
            informed += 1
    return informed


@noinline
def shoot_down_arrives(run: Run, peer: int, page: int, key: int, sender: int, row: int, now: int) -> None:
    """Take the page out of a core's own TLB, and acknowledge an unmapping."""
    inclusion = sender == OF_INCLUSION
    invalidate(run, peer, page, key, row, now, TELLS if inclusion else SILENT)
    if not inclusion:
        forget_beliefs(run, peer, page)
        leave = now + run.rules.private_cycles
        send(run, KIND.acknowledgement, NEWS, peer, key, row, sender, page, NO_NOTE, peer, sender, leave, now, SHOT)


@noinline
def invalidate(run: Run, core: int, page: int, key: int, row: int, now: int, tells: int) -> None:
    """Take a page out of a core's own TLB, if it is there."""
    entry = find(run, core, page)
    if entry == NOWHERE:
        return
    at = core * run.rules.private_sets + set_of(key, run.rules.private_sets)
    drop_private(run, core, page, entry, at, row, now, tells)
    run.state.counters[COUNT.shot_down] += 1
    log(run, now, INVALIDATE, core, page, NONE, NONE, NONE)
