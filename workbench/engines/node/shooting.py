"""Shoot-downs: the modules whose TLBs held a page that was unmapped issue nothing for a while (spec 6, R11, N36,
N37)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.pausing import STALL, ask_translation
from workbench.engines.node.planning import part_of_translation, present
from workbench.engines.node.state import COUNT, NONE, Run

TO_ALL = 2


@noinline
def shoot_down(run: Run, first: int, second: int) -> None:
    """Let the modules that a shoot-down goes to issue nothing for a while, on every card."""
    run.state.counters[COUNT.shoot_downs] += 1
    for card in range(run.rules.cards):
        part = part_of_translation(run, card)
        if run.rules.shootdown_to == TO_ALL:
            for module in range(run.rules.modules):
                _stall(run, card, module, first, second)
        else:
            _stall_holders(run, card, part, first, second)


@noinline
def _stall_holders(run: Run, card: int, part: int, first: int, second: int) -> None:
    """Let the modules of a card issue nothing that were noted when pages were unmapped."""
    ports = run.ports
    module = call(ports.take_holder[part], ports.lent[part], ())
    while module != NONE:
        _stall(run, card, module, first, second)
        module = call(ports.take_holder[part], ports.lent[part], ())


@noinline
def _stall(run: Run, card: int, module: int, first: int, second: int) -> None:
    tell(run, KIND.shootdown, card, first, second, module)
    run.state.counters[COUNT.stalled_modules] += 1
    place, until = card * run.rules.modules + module, present(run) + run.rules.shootdown_cycles
    if run.rules.shootdown_cycles > 0:
        ask_translation(run, card, STALL, module, until)
        run.state.stalled_until[place] = max(run.state.stalled_until[place], until)
