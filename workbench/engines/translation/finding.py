"""Where does a TLB hold a page? A table by page and TLB while it is small, a hash table a TLB when it is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.compiled import kernel, noinline
from workbench.engines.translation.shape import to_int64
from workbench.engines.translation.state import Run
from workbench.structures.key_index import look_up, put_key, take_key

NOWHERE: Any = np.int64(-1)


@kernel
def find(run: Run, tlb: int, page: int) -> int:
    """Return the entry of a TLB that holds a page, or -1."""
    if run.rules.dense:
        return to_int64(run.state.where[page * run.rules.tlbs + tlb])
    return _look_up(run, tlb, page)


@noinline
def _look_up(run: Run, tlb: int, page: int) -> int:
    return look_up(run.state.places, tlb, page)


@kernel
def note_place(run: Run, tlb: int, page: int, entry: int) -> None:
    """Note where a page lies."""
    if run.rules.dense:
        run.state.where[page * run.rules.tlbs + tlb] = entry
    else:
        _put(run, tlb, page, entry)


@noinline
def _put(run: Run, tlb: int, page: int, entry: int) -> None:
    put_key(run.state.places, tlb, page, entry)


@kernel
def forget_place(run: Run, tlb: int, page: int) -> None:
    """Note that a page does not lie there any more."""
    if run.rules.dense:
        run.state.where[page * run.rules.tlbs + tlb] = NOWHERE
    else:
        _take(run, tlb, page)


@noinline
def _take(run: Run, tlb: int, page: int) -> None:
    take_key(run.state.places, tlb, page)
