"""A selection policy run step by step in plain Python, with the heads of channels that a caller gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from workbench.errors import wrong_value
from workbench.policies.arguments import MOST, MOST_LEVELS, MOST_UNITS, MOST_WAVES, seed_of, truths, whole
from workbench.policies.dispatch.selection.view import NOBODY, SelectionView


class Head(NamedTuple):
    """The group at the head of a channel."""

    channel: int
    priority: int = 1
    fits: bool = True
    """Whether a module has space for it now."""
    rank: int | None = None
    """What the priority policy says; the static priority if None."""
    waited: int = 0
    waves: int = 1


class SelectionProtocol(Protocol):
    """What the stepper needs of a selection policy."""

    def check_run(self, channels: int, levels: int) -> None: ...
    def parameters(self) -> np.ndarray: ...
    def plain_answer(self) -> Callable[[Any], int]: ...
    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray: ...


class SelectionStepper:
    """One run of a selection policy, round by round.

    >>> from workbench.policies.dispatch.selection import ServedMarks
    >>> rounds = ServedMarks(pick="lowest").rounds(channels=3)
    >>> [rounds.pick(0, 1, 2) for _ in range(4)]
    [0, 1, 2, 0]
    >>> rounds.pick(Head(0, priority=1, fits=False), Head(2, priority=3))
    2
    """

    def __init__(self, policy: SelectionProtocol, channels: int, levels: int = 4, seed: int = 0) -> None:
        channels, levels = whole("channels", channels, 1, MOST_UNITS), whole("levels", levels, 1, MOST_LEVELS)
        policy.check_run(channels, levels)
        self.policy, self.channels, self.levels = policy, channels, levels
        self.memory = policy.start_memory(channels, levels, seed_of(seed))
        self.cycle = 0

    def pick(self, *heads: Head | int) -> int | None:
        """Choose the channel whose head is dispatched in this round, None = no channel's; then one cycle passes.

        Parameters
        ----------
        heads : Head or int
            The channels with a waiting group, in any order; a number is a channel whose head fits, at priority 1.

        Raises
        ------
        InputError
            A channel or a priority does not exist, or a channel has two heads.
        """
        given = [_checked(head if isinstance(head, Head) else Head(head)) for head in heads]
        entries = sorted(given, key=lambda head: head.channel)
        self._refuse(entries)
        answer = self._ask(entries) if any(head.fits for head in entries) else NOBODY
        self.cycle += 1
        return None if answer == NOBODY else entries[answer].channel

    def _ask(self, entries: list[Head]) -> int:
        rank = [head.priority if head.rank is None else head.rank for head in entries]
        channel, priority, fits, _, waited, waves = zip(*entries, strict=True)
        columns = (np.array(column, np.int64) for column in (channel, priority, rank, fits, waited, waves))
        seen = SelectionView._make((self.cycle, len(entries), *columns, self.policy.parameters(), self.memory))
        return int(self.policy.plain_answer()(seen))

    def _refuse(self, entries: list[Head]) -> None:
        channels = [head.channel for head in entries]
        for head in entries:
            if not 0 <= head.channel < self.channels:
                raise wrong_value("", "channel", f"must be from 0 to {self.channels - 1}", head.channel)
            if not 1 <= head.priority <= self.levels + 1:
                raise wrong_value("", "priority", f"must be from 1 to {self.levels + 1}", head.priority)
        if len(set(channels)) < len(channels):
            raise wrong_value("", "heads", "must be at most one a channel", channels)


def _checked(head: Head) -> Head:
    """Return the same head, its numbers as plain whole numbers."""
    (fits,) = truths("fits", [head.fits], 1)
    return Head(
        channel=whole("channel", head.channel, None, None),
        priority=whole("priority", head.priority, None, None),
        fits=fits,
        rank=None if head.rank is None else whole("rank", head.rank, -MOST),
        waited=whole("waited", head.waited),
        waves=whole("waves", head.waves, 0, MOST_WAVES),
    )
