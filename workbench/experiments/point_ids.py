"""The names of many setups: what they have in common is put in words once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.engines.engine import Setup
from workbench.experiments.planned_code import own_classes, with_code
from workbench.experiments.run_id import Revision, canonical, digest
from workbench.identity import FORMAT, PYTHON


class PointIds:
    """Names setups exactly as `point_id` names their identities.

    The points of a sweep share most of their parts, as the same objects; each part's text is kept while this is. With
    100,000 points of a grid that is the difference between 4 s and 1 s.
    """

    def __init__(self, revision: Revision) -> None:
        self._fixed = {
            name: canonical(value) for name, value in (("format", FORMAT), ("python", PYTHON), ("revision", revision))
        }
        self._known: dict[int, tuple[Any, str]] = {}
        self._own: dict[int, tuple[Any, bool]] = {}

    def of(self, setup: Setup) -> str:
        """The name of a setup."""
        parts = {
            **self._fixed,
            "engine": f'"{setup.engine}"',
            "machine": self._text(setup.machine, setup.machine.identity),
            "options": self._text(setup.options, setup.options.identity),
            "policies": _joined({slot: self._text(it, it.identity) for slot, it in setup.policies.items()}),
            "workload": self._text(setup.workload, setup.workload.identity),
        }
        return digest(_joined(parts))

    def with_code(self, setup: Setup) -> Setup:
        """Return a setup that knows the digests of the user's classes in it; most have none, which is found at once."""
        parts = (setup.machine, setup.workload, setup.options, *setup.policies.values())
        return with_code(setup) if any(self._has_own(part) for part in parts) else setup

    def _has_own(self, part: Any) -> bool:
        if id(part) not in self._own:
            self._own[id(part)] = part, any(True for _ in own_classes(part))
        return self._own[id(part)][1]

    def _text(self, part: Any, plain: Callable[[], Any]) -> str:
        """What a part says; the part is kept with it, so that no other one can take its place in memory."""
        if id(part) not in self._known:
            self._known[id(part)] = part, canonical(plain())
        return self._known[id(part)][1]


def _joined(texts: Mapping[str, str]) -> str:
    """A mapping of names to canonical texts, as canonical text."""
    return "{" + ",".join([f'"{name}":{texts[name]}' for name in sorted(texts)]) + "}"
