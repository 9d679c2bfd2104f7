"""A priority policy asked about groups that wait, compiled and in plain Python at once."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracles.dispatch_selection import first_change
from workbench.policies.dispatch.priority import FOR_EVER, Priority, asks, holds_until
from workbench.policies.scenes import Speaker, plain

HORIZON = 200
"""Cycles that are looked at for a change: longer than the periods that are drawn."""


def ranks(policy: Priority, levels: int) -> Callable[[int, int, int], int]:
    """Ask for the rank at (cycle, priority, waited); compiled and plain must agree."""
    speakers = Speaker(policy), Speaker(policy, say=plain(policy))

    def rank(cycle: int, priority: int, waited: int) -> int:
        one, other = (speaker.ask(asks(cycle, priority, levels, waited)) for speaker in speakers)
        assert one == other
        return one

    return rank


def change_and_promise(
    policy: Priority, levels: int, pairs: list[tuple[int, int]], cycle: int
) -> tuple[int | None, int]:
    """When the order of groups (priority, arrival) really changes, and until when the policy says that it holds."""
    speaker = Speaker(policy)
    return (
        first_change(ranks(policy, levels), pairs, cycle, HORIZON),
        min(holds_until(speaker, cycle, levels), FOR_EVER),
    )
