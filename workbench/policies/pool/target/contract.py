"""What every choice of a card owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.target.contract import TargetContract

class TestMyTarget(TargetContract):
    policy = MyTarget()
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from workbench.compiled import NO_ANSWER, RAISED, kernel
from workbench.policies.pool.target.plain import Scene
from workbench.policies.pool.target.question import CHOSEN, SCORE, Target
from workbench.policies.pool.target.view import TargetNotice, TargetView
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process
from workbench.streams import Streams

__all__ = ["TargetContract"]
UNTOUCHED = 77.0
IDS = ("gpu0", "cpu0", "gpu1", "gpu2", "gpu3", "gpu4")
"""What the cards are called; a policy that names cards names some of the first three."""
_score: Any = SCORE.ask
_chosen: Any = CHOSEN.ask
_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.pool.target.contract import digest
print(digest(policy))
"""


@kernel
def _asked(answer, borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory):  # type: ignore[no-untyped-def]
    return _score(
        answer,
        TargetView(borrower, count, cards, size, free, gbps, hops, lent, held, totals, hosts, scores, params, memory),
    )


@kernel
def _told(answer, card, cards, params, memory):  # type: ignore[no-untyped-def]
    return _chosen(answer, TargetNotice(card, cards, params, memory))


class TargetContract(ValueContract):
    """Tests that every choice of a card passes; a subclass names the policy."""

    policy: ClassVar[Target]

    def test_scores_every_candidate_and_nothing_else(self) -> None:
        for _, shown, scores, _ in plain_walk(self.policy):
            assert not np.isnan(scores).any(), shown
            assert (scores < math.inf).all(), shown
            assert scores[-1] == UNTOUCHED, "wrote behind the last candidate"

    def test_compiled_and_plain_scores_agree_to_the_bit_within_their_arrays(self) -> None:
        for checked in (False, True):
            for term, shown, scores, memory in plain_walk(self.policy):
                ready = term.ready(IDS, 1, checked)
                ready.memory[:] = memory[0]
                mine = np.full(shown.cards.size + 1, UNTOUCHED)
                asked: Any = _asked
                status = asked(ready.answer, *shown.arguments(), mine, ready.params, ready.memory)
                assert status != RAISED, f"raised when asked {shown}"
                assert mine.tobytes() == scores.tobytes()
                assert ready.memory.tolist() == memory[1].tolist(), "memories differ"
                if ready.chosen != NO_ANSWER:
                    assert _told(ready.chosen, shown.cards[0], shown.free.size, ready.params, ready.memory) != RAISED

    def test_leaves_its_inputs_alone(self) -> None:
        for _, shown, _, memory in plain_walk(self.policy):
            assert memory[2] == [np.asarray(it).tobytes() for it in shown], "wrote to what it was shown"

    def test_scores_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == digest(self.policy)

    def test_memory_belongs_to_the_run(self) -> None:
        for term, _ in self.policy.terms():
            first, second = term.start_memory(8, 5), term.start_memory(8, 5)
            assert (first.dtype, first.ndim) == (np.dtype(np.int64), 1), "memory is one row of int64"
            assert first is not second, "each run has its own memory"
            assert first.tolist() == second.tolist(), "the same seed gives the same memory"
            assert (first.tolist() != term.start_memory(8, 6).tolist()) == term.draws, f"draws is {term.draws}"
            assert term.fallbacks(first) == 0, "nothing has happened yet"

    def test_terms_are_single_scores_with_weights(self) -> None:
        for term, weight in self.policy.terms():
            assert term.terms() == ((term, 1.0),), "a sum within the sum"
            assert weight >= 0, "a weight below zero"

    def test_chooses_one_of_the_cards_or_none(self) -> None:
        cards = list(zip(IDS[:3], (50, 90, 90), (24.0, 12.0, 150.0), strict=True))
        found = self.policy.choose(60, cards)
        assert found in ("cpu0", "gpu1", None) or not self.policy.filters()
        assert self.policy.choose(100, cards) is None or not self.policy.filters()


def plain_walk(policy: Target) -> Iterator[tuple[Target, Scene, np.ndarray, tuple[Any, ...]]]:
    """Each term's answers in plain Python; with what it remembered before and after, and what it was shown."""
    for term, _ in policy.terms():
        memory: Any = None
        for shown in _scenes():
            memory = term.start_memory(shown.free.size, 1) if memory is None else memory
            before, scores = memory.copy(), np.full(shown.cards.size + 1, UNTOUCHED)
            bytes_shown = [np.asarray(it).tobytes() for it in shown]
            term.plain_answer()(TargetView._make((*shown.arguments(), scores, term.parameters_on(IDS), memory)))
            yield term, shown, scores, (before, memory.copy(), bytes_shown)
            if told := type(term).chosen:
                taken = int(shown.cards[np.argmax(scores[:-1])])
                notice = TargetNotice(taken, shown.free.size, term.parameters_on(IDS), memory)
                term.plain_answer(told, CHOSEN)(notice)


def digest(policy: Target) -> str:
    """A digest of all scores and of what is remembered in between: the same in every process."""
    found = hashlib.blake2b(digest_size=8)
    for _, _, scores, memory in plain_walk(policy):
        found.update(scores.tobytes() + memory[1].tobytes())
    return found.hexdigest()


def _scenes() -> Iterator[Scene]:
    """Boards of six cards in all states, some cards alike."""
    draw = Streams(0)["targets"]
    for _ in range(25):
        free, held = draw.integers(0, 1 << int(draw.integers(3, 40)), 6), draw.integers(0, 1 << 20, 6)
        free[draw.integers(0, 6, 2)] = free[0]
        yield Scene(
            borrower=6,
            cards=np.sort(draw.permutation(6)[: draw.integers(1, 7)]),
            size=int(draw.integers(1, 100)),
            free=free,
            gbps=draw.choice([12.0, 24.0, 48.0, 150.0], 6),
            hops=draw.integers(1, 4, 6),
            lent=draw.choice([0.0, 1.0, 7.0, 5000.0], 6),
            held=held,
            totals=free + held + 1,
            hosts=draw.integers(0, 2, 6),
        )
