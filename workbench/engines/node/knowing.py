"""How many pages of a group each module holds, for the choice by affinity (spec 6, R15, N12)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel, noinline, routine
from workbench.compiled.entry import call
from workbench.engines.node.pages import page_tag
from workbench.engines.node.planning import part_of_translation
from workbench.engines.node.state import COUNT, FOUND_TOUCH, GROUP, Run
from workbench.engines.node.touching import find_page, touches_of_phase

EITHER = 3
"""A page is held by a TLB, or by a record of the directory."""
OWN, GROUP_BEFORE = range(2)


class Asked(NamedTuple):
    """What a dispatcher asks of."""

    run: Run
    pages: np.ndarray
    """int64[modules], where it reads what each module holds."""


@routine
def pages_held(request: Asked, group: int, first_wave: int, waves: int) -> int:
    """Write down how many pages of a group each module of its card holds; return the most."""
    return _pages_held(request.run, request.pages, group)


@noinline
def _pages_held(run: Run, pages: np.ndarray, group: int) -> int:
    kernel_, ports = run.plan.kernel_of[group], run.ports
    local, card = group - run.plan.first_group[kernel_], run.state.group[group, GROUP.card]
    part = part_of_translation(run, card)
    run.state.counters[COUNT.known] = 0
    known = local - 1 if run.rules.pages_known == GROUP_BEFORE else local
    if known >= 0:
        for phase in range(run.plan.first_phase[kernel_], run.plan.first_phase[kernel_ + 1]):
            _score_phase(run, part, kernel_, known, phase)
    most = 0
    for module in range(pages.size):
        pages[module] = call(ports.take_score[part], ports.lent[part], (module,))
        most = max(most, pages[module])
    return most


@noinline
def _score_phase(run: Run, part: int, kernel_: int, group: int, phase: int) -> None:
    """Count for each module the pages of a phase that it holds, of a sub-group those of its group."""
    for position in range(touches_of_phase(run, kernel_, group, phase)):
        page = find_page(run, kernel_, group, phase, position)
        tag = page_tag(run.pages, run.plan.tensor[run.state.found[FOUND_TOUCH]], page)
        if _is_new(run.state.known, run.state.counters, tag):
            call(run.ports.score_held[part], run.ports.lent[part], (tag, EITHER))


@kernel
def _is_new(known: np.ndarray, counters: np.ndarray, tag: int) -> bool:
    """Return whether a page was not looked for in this verdict, and note it."""
    count = counters[COUNT.known]
    for place in range(count):
        if known[place] == tag:
            return False
    if count < known.size:
        known[count] = tag
        counters[COUNT.known] += 1
    return True
