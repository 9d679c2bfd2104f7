"""Names of whole sets of policies, where two sides differ in more slots than a line can list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_LISTED = 2
"""Up to so many slots in which the sides differ, a side is called by its policies."""
Sides = Mapping[str, Mapping[str, Any]]
"""As `PoliciesControl.sides` returns them."""


class PolicySets:
    """The two sets with which a page opens, under their names; later sets are called by what they change."""

    def __init__(self, names: tuple[str, str], sides: Sides) -> None:
        self._sets = dict(zip(names, _both(sides), strict=True))

    def names(self, sides: Sides, listed: tuple[str, str]) -> tuple[str, str]:
        """Return the names of both sides, given those that list their policies.

        >>> opening = {"baseline": {"a": 1, "b": 1, "c": 1}, "other": {"a": 2, "b": 2, "c": 2}}
        >>> sets = PolicySets(("usual", "new"), opening)
        >>> sets.names(opening, ("1, 1, 1", "2, 2, 2"))
        ('usual', 'new')
        >>> sets.names({**opening, "other": {"a": 2, "b": 2, "c": {"other": {}}}}, ("1, 1, 1", "2, 2, other"))
        ('usual', 'new, but c: other')
        >>> sets.names({**opening, "other": {"a": 2, "b": 1, "c": 1}}, ("1", "2"))
        ('1', '2')
        """
        baseline, other = _both(sides)
        if sum(baseline[slot] != other[slot] for slot in other) <= MOST_LISTED:
            return listed
        return self._name(baseline), self._name(other)

    def _name(self, policies: Mapping[str, Any]) -> str:
        changed = {
            name: [slot for slot in policies if policies[slot] != known[slot]] for name, known in self._sets.items()
        }
        name = min(changed, key=lambda one: len(changed[one]))
        slots = changed[name]
        if len(slots) > MOST_LISTED:
            return f"{name}, but {len(slots)} policies"
        rest = ", ".join(f"{slot.replace('_', ' ')}: {_word(policies[slot])}" for slot in slots)
        return f"{name}, but {rest}" if slots else name


def _both(sides: Sides) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the policies of both sides in the slots in which they may differ."""
    baseline = dict(sides["baseline"])
    return baseline, {slot: policy or baseline[slot] for slot, policy in sides["other"].items()}


def _word(policy: Any) -> str:
    """Return the name of a policy in plain types."""
    return str(next(iter(policy))) if isinstance(policy, Mapping) else str(policy)
