"""The contract of module choices: tests that three lines in a test file join, for policies of this package or not.

    from workbench.policies.dispatch.choice.contract import ChoiceContract

    class TestMyChoice(ChoiceContract):
        policy = MyChoice()

The subclass names the policy that is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from workbench.compiled import RAISED
from workbench.policies.contract import Contract
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.scene import USUAL, Scene
from workbench.policies.dispatch.choice.view import INSTRUCTIONS, ChoiceNotice, ChoiceView, PagesNotice
from workbench.policies.scenes import ANSWER, Request, Scenes, Speaker, plain

UNTOUCHED = 77.0
"""What stands in the scores before they are asked for."""


class ChoiceContract(Contract):
    """Tests that every module choice passes; a subclass names the policy."""

    policy: ClassVar[Choice]
    sizes = (1, 2, 5, 16)
    """Modules of the machines that are walked through."""
    steps = 40
    names: ClassVar[tuple[str, ...]] = USUAL
    """The resources of the machine that is walked through."""
    impartial: ClassVar[bool] = True
    """Whether a module is judged by its state alone: modules that change places take their scores along."""
    settings = ("policy", "sizes", "steps", "names")

    def speakers(self) -> Sequence[Choice]:
        """Return the terms of the sum."""
        return [term for term, _ in self.policy.bound(self.names).terms()]

    def start_memory(self, policy: Choice, size: int, seed: int) -> np.ndarray:
        """Return the memory of a term at the start of a run with so many modules."""
        return policy.start_memory(size, seed)

    def scenes(self, policy: Choice, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Ask about random states of so many modules, and tell of the module that scores highest.

        One that reads pages is told before how many of the group's each module holds.
        """
        kept: Any = None
        for step in range(steps):
            scene = drawn_scene(draw, self.names, size, step * 1000, policy.classes)
            see = asks(scene)
            if "held" in policy.tells:
                yield "held", PagesNotice(draw.integers(0, 4, size), kept, kept)
            yield see
            taken = int(scene.modules[np.argmax(see.scores[:-1])])
            yield "chosen", ChoiceNotice(taken, size, kept, kept)

    def judge(self, request: Request) -> str:
        """Return a fault where a candidate has no finite score, or something behind the last one is written."""
        if request.name != ANSWER:
            return ""
        scores = request.after.scores
        if not np.isfinite(scores[:-1]).all():
            return f"scored {scores[:-1].tolist()} for {request.see}"
        return "" if scores[-1] == UNTOUCHED else f"wrote behind the last candidate, for {request.see}"

    def test_scores_follow_from_the_candidates_alone(self) -> None:
        self._same_after(_others_changed)

    def test_impartial_or_not(self) -> None:
        turned = [
            (_scores(requested), self._again(requested, _reversed(requested.see))[::-1])
            for requested in self._answers()
        ]
        assert all(one == other for one, other in turned) == self.impartial, f"impartial is {self.impartial}"

    def test_terms_are_single_scores(self) -> None:
        for term, weight in self.policy.terms():
            assert term.terms() == ((term, 1.0),), "a sum within the sum"
            assert weight >= 0, "a weight below zero"
        assert self.policy.needs_heat() == any(term.needs_heat() for term in self.speakers())

    def test_goes_with_the_machine(self) -> None:
        self.policy.bound(self.names).check_resources(self.names)
        assert self.policy.bound(self.names).bound(self.names) == self.policy.bound(self.names)

    def _answers(self) -> list[Request]:
        return [requested for requested in self.requests() if requested.name == ANSWER]

    def _same_after(self, change: Any) -> None:
        for requested in self._answers():
            assert self._again(requested, change(requested.see)) == _scores(requested), requested.see

    def _again(self, request: Request, see: ChoiceView) -> list[float]:
        """Return the scores in another state, with the memory that there was."""
        speaker = Speaker(request.policy, request.see.memory.copy(), plain(request.policy))
        other = see._replace(scores=np.zeros(see.count), memory=speaker.memory)
        assert speaker.ask(other) != RAISED, f"raised for {see}"
        return [float(score) for score in other.scores]


def _scores(request: Request) -> list[float]:
    scores: list[float] = request.after.scores[:-1].tolist()
    return scores


def asks(scene: Scene) -> ChoiceView:
    """Return the view of a state, with a place behind the last candidate that stays untouched."""
    kept: Any = None
    scores = np.full(scene.modules.size + 1, UNTOUCHED)
    return ChoiceView(scene.cycle, scene.modules.size, *scene.columns(), scores, kept, kept)


def drawn_scene(
    draw: np.random.Generator,
    names: tuple[str, ...] = USUAL,
    modules: int = 5,
    cycle: int = 0,
    classes: int = INSTRUCTIONS,
) -> Scene:
    """Return a state of modules: some alike, some empty, with any candidates; instructions in fixed point."""
    totals = draw.integers(1, 513, len(names))
    kinds = draw.integers(1, modules + 1)
    like = draw.integers(0, kinds, modules)
    free = (totals * draw.choice([0.0, 0.25, 0.9, 1.0], (kinds, len(names)))).astype(np.int64)[like]
    recent = (draw.integers(0, 1 << 34, (kinds, classes)) * draw.integers(0, 2, (kinds, 1)) / (1 << 20))[like]
    return Scene(
        cycle=cycle,
        modules=np.sort(draw.permutation(modules)[: draw.integers(1, modules + 1)]),
        demand=draw.integers(0, totals + 1),
        free=free.reshape(-1),
        longest=(free // 2).reshape(-1),
        totals=totals,
        recent=recent.reshape(-1),
        heat=(draw.random(kinds) * 50 * draw.integers(0, 2))[like],
        names=names,
    )


_ROWS = ("free", "longest", "recent")


def _others_changed(see: ChoiceView) -> ChoiceView:
    """Return the same view, but modules that are no candidates have another state."""
    modules = see.heat.size
    other = np.ones(modules, bool)
    other[see.modules] = False
    rows: Any = {n: np.where(other[:, None], 0, getattr(see, n).reshape(modules, -1)).reshape(-1) for n in _ROWS}
    return see._replace(heat=np.where(other, -1.0, see.heat), **rows)


def _reversed(see: ChoiceView) -> ChoiceView:
    """Return the same modules in the opposite order."""
    modules, turned = see.heat.size, np.ascontiguousarray
    rows: Any = {n: turned(getattr(see, n).reshape(modules, -1)[::-1]).reshape(-1) for n in _ROWS}
    return see._replace(modules=turned((modules - 1 - see.modules)[::-1]), heat=turned(see.heat[::-1]), **rows)
