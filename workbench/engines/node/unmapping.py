"""Pages that are no more: every TLB drops them at once (spec 6, R11)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.messages import KIND, tell, tell_detail
from workbench.engines.node.pages import page_tag
from workbench.engines.node.planning import check_answer, look_again, part_of_translation, present
from workbench.engines.node.state import COUNT, NONE, Run
from workbench.structures.bitmaps import add_core


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
