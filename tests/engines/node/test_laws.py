"""What holds in every run of a node is looked at in all tests, and what breaks it is said (spec 6, R18)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.oracles.node.random_nodes import random_node
from tests.oracles.node_beside import Both, run_both
from workbench.engines.node import engine
from workbench.engines.node.path_times import TIME
from workbench.engines.node.state import COUNT, GROUP


def lose_a_group(result: Both) -> None:
    """Put one group forward that never came."""
    result.play.state.counters[COUNT.put_forward] += 1


def lose_a_cycle(result: Both) -> None:
    """Let the first group that has ended have computed a cycle less than it did."""
    first = int((result.play.state.group[:, GROUP.ended] >= 0).argmax())
    result.play.state.times[first, TIME.compute] -= 1


def lose_a_byte(result: Both) -> None:
    """Take a byte out of the first card's cache."""
    result.play.members.each[-1].part.lent.service.state.cached[0] -= 1  # type: ignore[union-attr]


def keep_an_entry(result: Both) -> None:
    """Let a TLB hold a page of an application that there is not."""
    cards = result.play.run.rules.cards
    state = result.play.members.each[cards].part.lent.state  # type: ignore[union-attr]
    state.numbers.pages[0], state.held[0] = 99 << engine.BY_APPLICATION, 1


@pytest.mark.node
@pytest.mark.parametrize(
    ("break_", "sentence"),
    [
        (lose_a_group, "groups were put forward; "),
        (lose_a_cycle, r"of the time of group \d+, 1 cycles are in none of its parts"),
        (lose_a_byte, "card 0 has 1 bytes that are neither free, cached nor in use"),
        (keep_an_entry, "a TLB of card 0 holds page 27866022694354944, which is not mapped"),
    ],
)
def test_what_breaks_a_law_is_said(
    break_: Callable[[Both], None], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run_both(random_node(1))
    assert [*engine.broken(result.play.run, result.play.members)] == []
    break_(result)
    with pytest.raises(engine.BrokenLawError, match=sentence):
        engine.check_laws(result.play.run, result.play.members)
    monkeypatch.delenv(engine.VARIABLE)
    engine.check_laws(result.play.run, result.play.members)
