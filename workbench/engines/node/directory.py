"""Which modules hold a page: counted for the choice by affinity, dropped by an unmapping, stalled by its shoot-down.

Every TLB drops a page at once that is no more, and the modules whose TLBs held it issue nothing for a while (spec 6,
R11, R15, N12, N36, N37). A walk whose end a translation has no space for is ended when the run goes on with more.
Arrays grow in Python alone, so the calendar pauses, and ends first what it had begun.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import NO_BITS, noinline, routine
from workbench.compiled.memory_access import call
from workbench.engines.kit.faults import fail
from workbench.engines.node.pages import page_tag
from workbench.engines.node.schedule import check_answer, look_again, part_of_translation, present
from workbench.engines.node.state import COUNT, FAULT, GROUP, MATCH_TOUCH, NEEDS_ROOM, NONE, Run
from workbench.engines.node.telemetry import KIND, tell, tell_detail
from workbench.engines.node.touches import find_page, touches_of_phase
from workbench.structures.bitmaps import add_core, has_core

EITHER = 3
"""A page is held by a TLB, or by a record of the directory."""
OWN, GROUP_BEFORE = range(2)


class PageHolders(NamedTuple):
    """What a dispatcher asks of."""

    run: Run
    pages: np.ndarray
    """int64[modules], where it reads what each module holds."""


@routine
def pages_held(request: PageHolders, group: int, first_wave: int, waves: int) -> int:
    """Write down how many pages of a group each module of its card holds; return the most."""
    return _pages_held(request.run, request.pages, group)


@noinline
def _pages_held(run: Run, pages: np.ndarray, group: int) -> int:
    kernel_, ports = run.plan.kernel_of[group], run.ports
    local, card = group - run.plan.first_group[kernel_], run.state.group[group, GROUP.card]
    part = part_of_translation(run, card)
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
        tag = page_tag(run.pages, run.plan.tensor[run.state.match[MATCH_TOUCH]], page)
        # A page that several touches name counts once: the score is taken after all of them.
        call(run.ports.score_held[part], run.ports.lent[part], (tag, EITHER))


@noinline
def unmap(run: Run, mapping: int, home: int, first_word: int, second_word: int) -> None:
    """Drop the pages of a tensor, or a chunk, from every TLB; the modules that held one are kept for the shoot-down of
    this unmapping alone (R11, N36)."""
    rules, ports, first = run.rules, run.ports, run.state.counters[COUNT.details]
    for page in range(run.pages.count[mapping]):
        tell_detail(run, page_tag(run.pages, mapping, page))
    tell(run, KIND.unmap, home, first_word, second_word, first, run.pages.count[mapping])
    for card in range(rules.cards):
        part = part_of_translation(run, card)
        for page in range(run.pages.count[mapping]):
            tag = page_tag(run.pages, mapping, page)
            dropped = call(ports.ask_unmap[part], ports.lent[part], (tag, rules.shootdown_to, present(run)))
            if not check_answer(run, part, dropped):
                return
        _keep_holders(run, mapping, card, part)
        look_again(run, part)


@noinline
def _keep_holders(run: Run, mapping: int, card: int, part: int) -> None:
    """Take from a card's translation which of its modules held a page."""
    ports, kept = run.ports, run.state.holders[mapping]
    module = call(ports.take_holder[part], ports.lent[part], ())
    while module != NONE:
        add_core(kept, 0, card * run.rules.modules + module)
        module = call(ports.take_holder[part], ports.lent[part], ())


TO_ALL = 2


@noinline
def shoot_down(run: Run, mapping: int, first: int, second: int) -> None:
    """Let the modules that a shoot-down goes to issue nothing for a while, on every card: all, or those that were kept
    when the pages of its tensor, or chunk, were unmapped."""
    run.state.counters[COUNT.shoot_downs] += 1
    modules, kept = run.rules.cards * run.rules.modules, run.state.holders[mapping]
    for module in range(modules):
        if run.rules.shootdown_to == TO_ALL or has_core(kept, 0, module):
            _stall(run, module // run.rules.modules, module % run.rules.modules, first, second)
    kept[:] = NO_BITS


@noinline
def _stall(run: Run, card: int, module: int, first: int, second: int) -> None:
    tell(run, KIND.shootdown, card, first, second, module)
    run.state.counters[COUNT.stalled_modules] += 1
    place, until = card * run.rules.modules + module, present(run) + run.rules.shootdown_cycles
    if run.rules.shootdown_cycles > 0:
        part = part_of_translation(run, card)
        if check_answer(run, part, call(run.ports.stall[part], run.ports.lent[part], (module, until, present(run)))):
            look_again(run, part)
        run.state.stalled_until[place] = max(run.state.stalled_until[place], until)


MOST = 1 << 12
"""Walks that may have to be ended again."""


@noinline
def end_walk(run: Run, card: int, walk: int) -> None:
    """Let a walk of a card's translation end: now, or when the translation has space."""
    part = part_of_translation(run, card)
    answer = call(run.ports.end_walk[part], run.ports.lent[part], (walk, present(run)))
    if answer == NEEDS_ROOM:
        row = run.state.pending[run.state.counters[COUNT.pending] % MOST]
        row[0], row[1] = card, walk
        run.state.counters[COUNT.pending] += 1
        fail(run.state.counters, FAULT.part_full, present(run), part, NONE)
    elif check_answer(run, part, answer):
        look_again(run, part)


@noinline
def end_walks_again(run: Run) -> None:
    """End the walks for whose ends the translation had no space."""
    count = run.state.counters[COUNT.pending]
    run.state.counters[COUNT.pending] = 0
    for at in range(count):
        row = run.state.pending[at]
        end_walk(run, row[0], row[1])
