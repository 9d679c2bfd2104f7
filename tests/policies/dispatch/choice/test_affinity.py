"""Affinity against its contract and its twin: most pages, of equals fewest waves, then the lowest (spec 6, R15)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.node import policies as slow
from tests.policies.dispatch.choice.together import NAMES, in_a_run, scenes, told
from workbench.errors import InputError
from workbench.policies.dispatch.choice import Affinity, LeastWaves, MostResidual, WeightedChoice
from workbench.policies.dispatch.choice.contract import ChoiceContract, asks
from workbench.policies.dispatch.choice.view import PagesNotice
from workbench.policies.scenes import KEPT


class TestAffinity(ChoiceContract):
    policy = Affinity()
    impartial = False


class TestAffinityByGroups(ChoiceContract):
    policy = Affinity(load="workgroups")
    impartial = False


class TestAffinityWithoutScalarRegisters(ChoiceContract):
    policy = Affinity()
    names = ("vgpr", "waves", "workgroups")
    impartial = False


def chosen(shown, pages) -> int:
    """The module that is taken, asked as an engine asks."""
    ((term, _),) = Affinity().bound(shown.names).terms()
    speaker = in_a_run(term, shown.heat.size)
    speaker.tell("held", PagesNotice(np.array(pages, np.int64), *KEPT))
    see = asks(shown)
    speaker.ask(see)
    return int(shown.modules[np.argmax(see.scores[:-1])])


@given(scenes, st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_it_chooses_what_the_twin_chooses(shown, pages):
    waves = NAMES.index("waves")
    candidates = [
        slow.Candidate(module, int(shown.totals[waves]) - int(one["free"][waves]), (0, 0, 0, 0), 0.0, pages[module])
        for module, one in zip(shown.modules.tolist(), told(shown), strict=True)
    ]
    assert chosen(shown, pages[: shown.heat.size]) == slow.affinity(candidates)


def test_no_number_of_idle_slots_outweighs_a_page():
    full, empty = (9, 9, 0, 9, 9), (9, 9, 1 << 30, 9, 9)
    assert Affinity().choose([empty, full], pages=(1 << 20, (1 << 20) + 1), totals=(9, 9, 1 << 30, 9, 9)) == 1


def test_nobody_who_knows_pages_leaves_the_fewest_waves():
    rows = [(9, 9, free, 9, 9) for free in (3, 7, 7)]
    assert Affinity().choose(rows, totals=(9, 9, 9, 9, 9)) == LeastWaves().choose(rows, totals=(9, 9, 9, 9, 9)) == 1


def test_in_a_sum_its_memory_is_its_own():
    sum_of = WeightedChoice(choices=(Affinity(), MostResidual()), weights=(1, 1)).bound(NAMES)
    assert [term.notice("held") is not None for term, _ in sum_of.terms() if "held" in term.tells] == [True]
    assert [term.start_memory(3, 1).size for term, _ in sum_of.terms()] == [3, 1]


@pytest.mark.parametrize("pages", [(1,), (1, 2, 3), (1, -1)])
def test_refuses_pages_that_are_not_one_number_a_module(pages):
    with pytest.raises(InputError, match=r"^pages"):
        Affinity().choose([(1,) * 5, (2,) * 5], pages=pages)
