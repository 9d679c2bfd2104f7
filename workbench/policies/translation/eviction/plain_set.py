"""A full set whose eviction policy is asked in plain Python: for examples, contracts, circuits and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from workbench.policies.translation.eviction.view import EvictionView, IncomingView, TouchView
from workbench.structures.set_assoc import (
    EARLIEST,
    NEWEST,
    NONE,
    OLDEST,
    PAGE,
    ROW,
    insert,
    new_entry_sets,
    remove,
    take_free,
    touch,
)


class Proposer(Protocol):
    """What a set needs of the policy that proposes its candidates."""

    def parameters(self) -> np.ndarray: ...
    def plain_answer(self) -> Callable[[Any], int]: ...
    def start_memory(self, sets: int, ways: int, seed: int) -> np.ndarray: ...
    def tell(self, name: str, notice: Any) -> None: ...


NO_HOLDERS = np.zeros(1, np.uint64)


class PlainSet:
    """A set whose policy is asked and told as plain functions."""

    def __init__(self, policy: Proposer, ways: int, seed: int = 0) -> None:
        self.policy, self.ways = policy, ways
        self.table = new_entry_sets(np.array([ways]), np.array([0]))
        self.params, self.memory = policy.parameters(), policy.start_memory(1, ways, seed)
        self.where: dict[int, int] = {}

    def use(self, page: int) -> None:
        """Access a page: touch it, or insert it into a free entry."""
        fresh = page not in self.where
        if fresh:
            arrival = IncomingView(page, 0, 0, self.ways, self.params, self.memory)
            self.policy.tell("incoming", arrival)
            self.where[page] = take_free(self.table, 0)
            insert(self.table, 0, self.where[page], page, 0, NONE)
        else:
            touch(self.table, 0, self.where[page])
        notice = TouchView(self.where[page], 0, 0, self.ways, int(fresh), self.params, self.memory)
        self.policy.tell("touched", notice)

    def drop(self, page: int) -> None:
        """Take a page out."""
        remove(self.table, 0, self.where.pop(page))

    def fields(self) -> tuple[Any, ...]:
        """Return the fields of the question on a full set, from `at` to `words`."""
        ends = (int(self.table.sets[end]) for end in (NEWEST, OLDEST, EARLIEST))
        return (0, 0, self.ways, *ends, self.table.entries, NO_HOLDERS, 0, 0, 0)

    def proposed(self) -> list[int]:
        """Return every page in the order of the candidates."""
        answer = self.policy.plain_answer()
        order: list[int] = []
        entry = NONE
        for nth in range(self.ways):
            entry = int(answer(EvictionView._make((nth, entry, *self.fields(), self.params, self.memory))))
            order.append(int(self.table.entries[entry * ROW + PAGE]))
        return order
