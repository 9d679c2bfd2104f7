"""First module: the lowest that has room."""

from __future__ import annotations

from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView


class FirstModule(Choice):
    """Take the lowest module with room, whatever the engine does with ties, for there are none.

    Modules fill one after another, and the last ones stay idle as long as they can.

    References
    ----------
    spec 3, section 7: a control that balances nothing; first fit over the modules.

    Examples
    --------
    >>> FirstModule().choose([(1,), (9,), (9,)], modules=(1, 2))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -float(see.modules[k])
