"""The names of many setups: what they have in common is put in words once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engines.engine import Setup
from workbench.experiments.planned_code import own_classes, with_code
from workbench.experiments.run_id import Revision, canonical, digest
from workbench.identity import FORMAT, PYTHON, current
from workbench.levers import identity_of
from workbench.policies.policy import Policy
from workbench.streams import Streams


class PointIds:
    """Names setups exactly as `point_id` names their identities.

    The points of a sweep share most of their parts, as the same objects; each part's text is kept while this is. With
    100,000 points of a grid that is the difference between 4 s and 1 s.
    """

    def __init__(self, revision: Revision) -> None:
        self._python, self._revision = canonical(PYTHON), canonical(revision)
        self._streams = canonical(current(Streams).digest)
        self._known: dict[int, tuple[Any, str, bool]] = {}

    def of(self, setup: Setup) -> tuple[str, Setup]:
        """Return the name of a setup, and the setup with the digests of the user's classes in it, if there are any."""
        text, own = self._text(setup, f'"revision":{self._revision},')
        return digest(text), with_code(setup) if own or isinstance(self._revision, tuple) else setup

    def identity(self, setup: Setup) -> str:
        """Return the identity of a setup as canonical JSON, which says nothing of the engine's revision."""
        return self._text(setup)[0]

    def _text(self, setup: Setup, revision: str = "") -> tuple[str, bool]:
        """Return the identity as canonical JSON, with one more entry, and whether a part is of the user's."""
        machine, m = self._part(setup.machine)
        options, o = self._part(setup.options)
        workload, w = self._part(setup.workload)
        policies, p = self._policies(setup.policies)
        text = (
            f'{{"engine":"{setup.engine}","format":{FORMAT},"machine":{machine},"options":{options},'
            f'"policies":{{{policies}}},"python":{self._python},{revision}'
            f'"streams":{self._streams},"workload":{workload}}}'
        )
        return text, m or o or w or p

    def _policies(self, policies: Mapping[str, Policy]) -> tuple[str, bool]:
        """Return the text of all policies and whether one is the user's; alternatives share the mapping too."""
        if (known := self._known.get(id(policies))) is None:
            parts = {slot: self._part(policies[slot]) for slot in sorted(policies)}
            text = ",".join([f'"{slot}":{part}' for slot, (part, _) in parts.items()])
            known = self._known[id(policies)] = policies, text, any(own for _, own in parts.values())
        return known[1], known[2]

    def _part(self, part: Any) -> tuple[str, bool]:
        """Return a part's text and whether it is of the user's; kept with the part, whose address no other gets."""
        if (known := self._known.get(id(part))) is None:
            own = any(True for _ in own_classes(part))
            known = self._known[id(part)] = part, canonical(identity_of(part)), own
        return known[1], known[2]
