"""Dies and admission in the dispatcher of a node: where the groups of its kernels go (spec 7, R4, R19 and R20)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from tests.engines.conservation.node import COUPLED, SUITE, application, world
from workbench.errors import StarvedError
from workbench.records.node import KIND, Who, messages_of

pytestmark = pytest.mark.node
MODULES, DIES, GROUPS = 4, (1, 3), 6
APPLICATIONS = tuple(replace(application(0, GROUPS, [40]), priority=p) for p in (1, 2, 1))
KERNELS = [(number, *place) for number in range(len(APPLICATIONS)) for place in ((0, 2), (0, 3), (1, 0))]
"""Application, stream and step of each kernel, in the order of their numbers."""


class Start(NamedTuple):
    """A group that was dispatched to a module; `others` are the groups of the card then, with their modules."""

    who: Who
    module: int
    others: list[tuple[Who, int]]

    def kernel(self) -> int:
        return kernel_of(self.who)

    def beside(self) -> list[Who]:
        return [who for who, module in self.others if module == self.module]


def kernel_of(who: Who) -> int:
    return KERNELS.index((who.application, who.stream, who.step))


def channel_of(who: Who) -> int:
    return APPLICATIONS[who.application].priority - 1


def starts(policies: dict[str, Any]) -> list[Start]:
    """The groups of a card with three applications, in the order in which they were dispatched."""
    setup = world(APPLICATIONS, 1, MODULES, policies, **COUPLED)
    setup = setup._replace(machine=setup.machine.but(card=setup.machine.card.but(dies=DIES)))
    resident: list[tuple[Who, int]] = []
    result = []
    for message in messages_of(SUITE.run(setup).record):
        if message.kind == KIND.dispatch:
            result.append(Start(message.who, message.values[0], list(resident)))
            resident.append((message.who, message.values[0]))
        elif message.kind == KIND.release:
            resident.remove((message.who, message.values[0]))
    assert len(result) == len(APPLICATIONS) * (GROUPS + 2 + 2)
    return result


def test_kernels_that_exclude_each_other_share_no_module():
    assert all(kernel_of(who) == one.kernel() for one in starts({"admission": "exclusive"}) for who in one.beside())
    mixed = [one for one in starts({}) for who in one.beside() if kernel_of(who) != one.kernel()]
    assert mixed, "without the policy no module is shared: the case tests nothing"


def test_a_priority_is_a_channel_and_a_launch_is_a_kernel():
    by_channel = starts({"admission": {"partition_by_channel": {"parts": "0-1 | 2-3"}}})
    assert {(channel_of(one.who), one.module // 2) for one in by_channel} == {(0, 0), (1, 1)}
    parts = [3, 0, 1, 2, 3, 0, 1, 2, 3]
    text = " | ".join(map(str, parts))
    by_kernel = starts({"admission": {"partition_by_kernel": {"parts": text, "others": "nowhere"}}})
    assert all(one.module == parts[one.kernel()] for one in by_kernel)


def test_a_channel_has_its_share_of_the_modules():
    for one in starts({"admission": {"share_by_channel": {"share": 0.5}}}):
        mine = {module for who, module in one.others if channel_of(who) == channel_of(one.who)}
        assert len(mine | {one.module}) <= MODULES // 2


def die_of(module: int) -> int:
    return int(module >= DIES[0])


def test_groups_of_a_kernel_go_from_die_to_die_or_die_after_die():
    for one in starts({"die": "round_robin_dies"}):
        assert die_of(one.module) == one.who.group % 2
    for one in starts({"die": "contiguous_dies"}):
        groups = GROUPS if one.who.step == 2 else 2
        assert die_of(one.module) == one.who.group * 2 // groups


def test_groups_that_no_module_admits_wait_for_ever():
    nowhere = {"admission": {"partition_by_channel": {"parts": "0-3", "others": "nowhere"}}}
    with pytest.raises(StarvedError) as starved:
        starts(nowhere)
    assert str(starved.value).endswith(
        "nothing is pending any more, and application 1, stream 0, step 2 waits for 6 groups that wait for a module; "
        "application 1, stream 1, step 0 waits for 2 groups that wait for a module."
    )
