"""Shoot-downs: the modules whose TLBs held a page that was unmapped issue nothing for a while (spec 6, R11, N36,
N37)."""

from __future__ import annotations

from workbench.compiled import NO_BITS, noinline
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.pausing import STALL, ask_translation
from workbench.engines.node.planning import present
from workbench.engines.node.state import COUNT, Run
from workbench.structures.bitmaps import has_core

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
        ask_translation(run, card, STALL, module, until)
        run.state.stalled_until[place] = max(run.state.stalled_until[place], until)
