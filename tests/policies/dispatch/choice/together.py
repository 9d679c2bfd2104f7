"""Scenes for hypothesis, a choice's scores in them, and what a slow twin is told of a module."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from workbench.policies.dispatch.choice.contract import asks, drawn_scene
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.scene import Scene
from workbench.policies.dispatch.choice.view import ChoiceNotice
from workbench.policies.scenes import KEPT, Speaker

NAMES = ("vgpr", "sgpr", "waves", "shared", "workgroups")
scenes = st.builds(
    lambda seed, modules: drawn_scene(np.random.default_rng(seed), NAMES, modules),
    st.integers(0, 1 << 40),
    st.integers(1, 12),
)
"""States of up to twelve modules, some of which are alike."""


def scored(policy: Choice, scene: Scene, after: tuple[int, ...] = ()) -> list[float]:
    """The scores of the candidates, asked as an engine asks."""
    ((term, _),) = policy.bound(scene.names).terms()
    speaker = in_a_run(term, scene.heat.size)
    for module in after:
        speaker.tell("chosen", ChoiceNotice(module, scene.heat.size, *KEPT))
    return asked(speaker, scene).tolist()


def in_a_run(term: Choice, modules: int) -> Speaker:
    """A term as an engine has it, on so many modules."""
    return Speaker(term, term.start_memory(modules, 1))


def asked(speaker: Speaker, scene: Scene) -> np.ndarray:
    """The scores of the candidates in a state."""
    see = asks(scene)
    speaker.ask(see)
    return see.scores[:-1]


def told(scene: Scene) -> list[dict[str, object]]:
    """Each candidate as a twin sees it."""
    modules = scene.heat.size
    tables = {name: getattr(scene, name).reshape(modules, -1).tolist() for name in ("free", "longest", "recent")}
    heat = scene.heat.tolist()
    return [{**{n: table[m] for n, table in tables.items()}, "heat": heat[m]} for m in scene.modules.tolist()]


def assert_same_scores(results: list[float], exact: list[object]) -> None:
    """The scores are those of the twin to a rounding, and equal where the twin's modules are the same."""
    assert len(results) == len(exact)
    for mine, its in zip(results, exact, strict=True):
        assert abs(mine - float(its)) <= 1e-9 * max(1.0, abs(float(its)))
