"""What every module choice owes, as tests to join, for policies of this package or not.

from workbench.policies.dispatch.choice.contract import ChoiceContract

class TestMyChoice(ChoiceContract):
    policy = MyChoice()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from workbench.compiled import RAISED
from workbench.policies.dispatch.choice.plain import USUAL, Scene
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.walk import UNTOUCHED, Asked, CompiledSpeaker, PlainSpeaker, digest, walk
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["ChoiceContract"]

_FRESH = """
import pickle, sys
policy = pickle.load(sys.stdin.buffer)
from workbench.policies.dispatch.choice.walk import PlainSpeaker, digest
print(digest(policy, PlainSpeaker, {names!r}))
"""


class ChoiceContract(ValueContract):
    """Tests that every module choice passes; a subclass names the policy."""

    policy: ClassVar[Choice]
    names: ClassVar[tuple[str, ...]] = USUAL
    """The resources of the machine that is walked through."""
    sizes: ClassVar[tuple[int, ...]] = (1, 2, 5, 16)
    """Modules of the machines that are walked through."""
    steps: ClassVar[int] = 40
    """Questions in each walk."""
    impartial: ClassVar[bool] = True
    """Whether a module is judged by its state alone: modules that change places take their scores along."""

    def test_scores_every_candidate(self) -> None:
        for _, asked in self._walks():
            assert asked.status != RAISED, f"raised when asked {asked.scene}"
            assert np.isfinite(asked.scores[:-1]).all(), asked
            assert asked.scores[-1] == UNTOUCHED, "wrote behind the last candidate"

    def test_scores_the_same_whenever_asked_the_same(self) -> None:
        for term, asked in self._walks():
            assert self._again(term, asked, asked.scene) == asked.scores[:-1].tolist(), asked

    def test_scores_follow_from_the_candidates_alone(self) -> None:
        for term, asked in self._walks():
            assert self._again(term, asked, _others_changed(asked.scene)) == asked.scores[:-1].tolist(), asked

    def test_impartial_or_not(self) -> None:
        turned = [
            (asked.scores[:-1].tolist(), self._again(term, asked, _reversed(asked.scene))[::-1])
            for term, asked in self._walks()
        ]
        assert all(one == other for one, other in turned) == self.impartial, f"impartial is {self.impartial}"

    def test_compiled_and_plain_scores_agree_to_the_bit(self) -> None:
        for term in self._terms():
            for modules in self.sizes:
                mine = walk(CompiledSpeaker(term, modules), self.names, modules, self.steps)
                plain = walk(PlainSpeaker(term, modules), self.names, modules, self.steps)
                for one, other in zip(mine, plain, strict=True):
                    assert one.scores.tobytes() == other.scores.tobytes(), f"compiled {one}, plain {other}"
                    assert one.memory.tolist() == other.memory.tolist(), "memories differ"

    def test_stays_within_its_arrays(self) -> None:
        for term in self._terms():
            for asked in walk(CompiledSpeaker(term, 6, checked=True), self.names, 6, self.steps):
                assert asked.status != RAISED, asked

    def test_leaves_its_inputs_alone(self) -> None:
        for term in self._terms():
            params = term.parameters()
            for asked in walk(PlainSpeaker(term, 6), self.names, 6, self.steps):
                before = [column.tobytes() for column in asked.scene.columns()]
                self._again(term, asked, asked.scene)
                assert [column.tobytes() for column in asked.scene.columns()] == before, "wrote to what it was shown"
            assert params.tolist() == term.parameters().tolist(), "wrote to its parameters"

    def test_memory_belongs_to_the_run(self) -> None:
        for term in self._terms():
            first, second = term.start_memory(16, 5), term.start_memory(16, 5)
            assert (first.dtype, first.ndim) == (np.dtype(np.int64), 1), "memory is one row of int64"
            assert first is not second, "each run has its own memory"
            assert first.tolist() == second.tolist(), "the same seed gives the same memory"
            assert (first.tolist() != term.start_memory(16, 6).tolist()) == term.draws, f"draws is {term.draws}"

    def test_terms_are_single_scores(self) -> None:
        for term, weight in self.policy.terms():
            assert term.terms() == ((term, 1.0),), "a sum within the sum"
            assert weight >= 0, "a weight below zero"
        assert self.policy.needs_heat() == any(term.needs_heat() for term in self._terms())

    def test_goes_with_the_machine(self) -> None:
        self.policy.bound(self.names).check_resources(self.names)
        assert self.policy.bound(self.names).bound(self.names) == self.policy.bound(self.names)

    def test_scores_the_same_in_a_fresh_interpreted_process(self) -> None:
        told = told_by_a_fresh_interpreted_process(self.policy, _FRESH.format(names=self.names))
        assert told == digest(self.policy, CompiledSpeaker, self.names)

    def _terms(self) -> list[Choice]:
        return [term for term, _ in self.policy.bound(self.names).terms()]

    def _walks(self) -> Iterator[tuple[Choice, Asked]]:
        for term in self._terms():
            for modules in self.sizes:
                for asked in walk(CompiledSpeaker(term, modules), self.names, modules, self.steps):
                    yield term, asked

    def _again(self, term: Choice, asked: Asked, shown: Scene) -> list[float]:
        """The scores in another state, with the memory that there was."""
        speaker, scores = PlainSpeaker(term, shown.heat.size), np.zeros(shown.modules.size)
        speaker.memory = asked.memory.copy()
        assert speaker.ask(shown, scores) != RAISED, f"raised when asked {shown}"
        return [float(score) for score in scores]


def _others_changed(shown: Scene) -> Scene:
    """The same, but modules that are no candidates have another state."""
    modules = shown.heat.size
    other = np.ones(modules, bool)
    other[shown.modules] = False
    free, longest, recent = (
        np.where(other[:, None], 0, column.reshape(modules, -1)).reshape(-1)
        for column in (shown.free, shown.longest, shown.recent)
    )
    return shown._replace(free=free, longest=longest, recent=recent, heat=np.where(other, -1.0, shown.heat))


def _reversed(shown: Scene) -> Scene:
    """The same modules in the opposite order."""
    modules = shown.heat.size
    free, longest, recent = (
        np.ascontiguousarray(column.reshape(modules, -1)[::-1]).reshape(-1)
        for column in (shown.free, shown.longest, shown.recent)
    )
    candidates = np.ascontiguousarray((modules - 1 - shown.modules)[::-1])
    heat = np.ascontiguousarray(shown.heat[::-1])
    return shown._replace(modules=candidates, free=free, longest=longest, recent=recent, heat=heat)
