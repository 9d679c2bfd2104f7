"""Coolest first: the module with the lowest temperature."""

from __future__ import annotations

from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView


class CoolestFirst(Choice):
    """Take the coolest module with room; ties, such as those of a start from the ambient, as the engine breaks them.

    It reads what a thermal sensor would say, so heat must be simulated; counting instructions is meant to do without.

    References
    ----------
    spec 3, section 7: thermal-aware and coolest-first choice, baseline of Em. 10.

    Examples
    --------
    >>> CoolestFirst().choose([12.5, 3.0, 4.0])
    1
    """

    rows_are = "heat"

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -see.heat[see.modules[k]]

    def needs_heat(self) -> bool:
        return True
