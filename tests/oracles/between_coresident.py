"""Co-residence of kernels (specification 7, R26), for its slow twin: every rule and every m is played."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracles.between_queue_and_unit import play
from tests.oracles.between_state import Case

RULES = ("first_module", "best_fit", "round_robin", "most_free")
"""The module choices. The two that weigh a resource take the one that the levers of the case name."""


@dataclass
class CoResidence:
    """Whether the kernels can hang under each rule, and the smallest m for which no rule hangs (None: every m)."""

    hangs: dict[str, bool]
    closed_modules: int | None


def coresident(case: Case, rules: tuple[str, ...] = RULES) -> CoResidence:
    """Return which rules hang, and the smallest number of last modules to close to all but the last kernel."""
    together = _together(case)
    answers_of = {m: {rule: hangs(together, rule, m) for rule in rules} for m in range(case.machine.modules())}
    safe = [m for m, answers in answers_of.items() if not any(answers.values())]
    return CoResidence(answers_of[0], min(safe, default=None))


def hangs(case: Case, rule: str, closed: int = 0) -> bool:
    """Return whether a run hangs under a rule when the last modules are closed to all but the last kernel."""
    last = list(dict.fromkeys(group.kernel for group in case.groups))[-1]
    return play(replace(case, levers=replace(case.levers, choice=rule, closed=(closed, last)))).outcome != "finished"


def _together(case: Case) -> Case:
    """Return the case with all groups at cycle 0, a channel and a barrier of each kernel, served in turn."""
    kernels = list(dict.fromkeys(group.kernel for group in case.groups))
    highest = max(group.barrier for group in case.groups)
    barriers = {}
    for place, kernel in enumerate(kernels):
        named = [group.barrier for group in case.groups if group.kernel == kernel and group.barrier != -1]
        barriers[kernel] = named[0] if named else highest + 1 + place
    groups = [
        replace(group, arrival=0, priority=1, channel=kernels.index(group.kernel), barrier=barriers[group.kernel])
        for group in case.groups
    ]
    return replace(case, groups=groups, levers=replace(case.levers, selection="in_turn"))
