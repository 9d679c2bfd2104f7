"""The dispatcher of a card: channels by priority, rounds, modules (spec 3; spec 6, R3, R6, R15, V1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from tests.oracles.node.calendar import Calendar, Key, Rank
from tests.oracles.node.description import Dispatch, Kernel, Policies
from tests.oracles.node.gauge import Gauge
from tests.oracles.node.history import History
from tests.oracles.node.log import Log
from tests.oracles.node.module import Module, Piece, demand_of
from tests.oracles.node.policies import Candidate, answer_of


class Task(Protocol):
    """A group, or a part of one that was split: what waits in a channel."""

    key: Key
    kernel: Kernel
    waves: int
    urgency: int

    def started(self, module: int) -> None:
        """Begin on a module."""

    def split(self) -> list[Task]:
        """Return a part a wave."""


class Dispatcher:
    """One card's channels and modules; `held` says how many pages of a task each module holds (R15)."""

    def __init__(
        self, calendar: Calendar, card: int, dispatch: Dispatch, policies: Policies, log: Log,
        held: Callable[[Task], list[int]] | None = None,
    ) -> None:  # fmt: skip
        self.modules = [Module(dispatch, policies) for _ in range(dispatch.modules)]
        self.fragmentation = [(Gauge(calendar), Gauge(calendar)) for _ in self.modules]
        self.histories = [History() for _ in self.modules]
        self.channels: dict[int, deque[Task]] = {p: deque() for p in range(1, dispatch.priorities + 1)}
        self._calendar, self._card, self._dispatch, self._log = calendar, card, dispatch, log
        self._order, self._choice = answer_of("order", policies.order), answer_of("choice", policies.choice)
        self._stuck, self._threshold = answer_of("stuck", policies.stuck), policies.stuck_threshold
        self._held = held
        self._weights = dict(dispatch.weights)
        self._taken: dict[Key, tuple[int, list[Piece]]] = {}
        self._failed = 0
        self._stuck_since: int | None = None  # cycle of the last round, if that failed
        self._last_round: int | None = None
        self._planned: int | None = None  # cycle of the round to come

    def enter(self, tasks: list[Task], priority: int) -> None:
        """Put tasks at the end of the channel of a priority."""
        for task in tasks:
            self.channels[priority].append(task)
            self._log("dispatch", self._card, "enter", task.key, channel=priority)
        self._plan(self._calendar.now)

    def cancel(self, application: int) -> list[Task]:
        """Take an application's tasks out of the channels, in the order of R3, and return them (E2)."""
        waiting = [(task, channel) for channel in self.channels.values() for task in channel]
        gone = [(task, channel) for task, channel in waiting if task.key.application == application]
        gone.sort(key=lambda one: one[0].key)
        for task, channel in gone:
            channel.remove(task)
            self._log("dispatch", self._card, "cancel", task.key)
        cancelled = [task for task, _ in gone]
        self._plan(self._calendar.now)
        return cancelled

    def release(self, key: Key) -> None:
        """Give back all that a task holds."""
        module, pieces = self._taken.pop(key)
        self.modules[module].give(pieces)
        self._measure(module)
        self._log("dispatch", self._card, "release", key, module=module)
        self._plan(self._calendar.now)

    @property
    def running(self) -> int:
        """Return how many tasks hold resources."""
        return len(self._taken)

    def _measure(self, module: int) -> None:
        for gauge, value in zip(self.fragmentation[module], self.modules[module].fragmentation()):
            gauge.set(value)

    def _heads(self) -> list[Task]:
        return [channel[0] for channel in self.channels.values() if channel]

    def _plan(self, cycle: int) -> None:
        """Plan a round at or after a cycle, if somebody waits: rounds are at multiples of `round_cycles`, once each.

        While a stuck head waits, a round fails at each of them; those between changes are counted, not held.
        """
        if not self._heads():
            self._stuck_since = None
            return
        if self._last_round is not None:
            cycle = max(cycle, self._last_round + 1)
        cycle = -(-cycle // self._dispatch.round_cycles) * self._dispatch.round_cycles
        if self._planned is None or cycle < self._planned:
            self._planned = cycle
            self._calendar.at(cycle, Rank.ROUND, Key(self._card), lambda: self._round(cycle))

    def _round(self, cycle: int) -> None:
        if cycle != self._planned or not self._heads():
            self._planned = None if cycle == self._planned else self._planned
            return
        self._planned, self._last_round = None, cycle
        dispatched = 0
        while dispatched < self._dispatch.dispatches_a_round and self._dispatch_one():
            dispatched += 1
        if dispatched:
            self._failed, self._stuck_since = 0, None
            self._plan(cycle + self._dispatch.round_cycles)
        else:
            self._fail(cycle)

    def _dispatch_one(self) -> bool:
        for task in self._by_urgency():
            module = self._placed(task)
            if module is not None:
                channel = next(channel for channel in self.channels.values() if channel and channel[0] is task)
                channel.popleft()
                task.started(module)
                return True
        return False

    def _by_urgency(self) -> list[Task]:
        order = self._order(list(self.channels), self._calendar.now)
        place = {priority: k for k, priority in enumerate(order)}
        return sorted(self._heads(), key=lambda task: place[task.urgency])

    def _placed(self, task: Task) -> int | None:
        """Take resources for a task; return the module, None if it fits nowhere."""
        demand = demand_of(task.kernel, task.waves)
        fitting = [index for index, module in enumerate(self.modules) if module.fits(demand)]
        while fitting:
            chosen = self._choice(self._candidates(task, fitting))
            pieces = self.modules[chosen].take(demand)
            if pieces is not None:
                self._taken[task.key] = (chosen, pieces)
                self._measure(chosen)
                self._log_taken(task, chosen, pieces)
                return chosen
            fitting.remove(chosen)
        return None

    def _log_taken(self, task: Task, module: int, pieces: list[Piece]) -> None:
        self._log("dispatch", self._card, "dispatch", task.key, module=module, waves=task.waves)
        for piece in pieces:
            self._log("dispatch", self._card, "take", task.key, module=module, **piece._asdict())

    def _candidates(self, task: Task, fitting: list[int]) -> list[Candidate]:
        held = self._held(task) if self._held else [0] * len(self.modules)
        return [Candidate(m, self.modules[m].waves, self.modules[m].free, self._energy(m), held[m]) for m in fitting]

    def _energy(self, module: int) -> float:
        now = self._calendar.now
        return self.histories[module].energy(now - self._dispatch.history_cycles, now, self._weights)

    def _fail(self, cycle: int) -> None:
        """Count a failed round and those that failed unheld since the last one; split or wait (spec 3, R21 to R28)."""
        since = self._stuck_since
        self._failed += 1 if since is None else (cycle - since) // self._dispatch.round_cycles
        self._stuck_since = cycle
        self._log("dispatch", self._card, "round_failed", Key(self._card), failed=self._failed)
        split = self._stuck(self._heads(), self._failed, self._threshold)
        if split:
            self._split(split)
        elif self._would_split():
            self._plan(cycle + (self._threshold + 1 - self._failed) * self._dispatch.round_cycles)

    def _would_split(self) -> bool:
        return bool(self._stuck(self._heads(), self._threshold + 1, self._threshold))

    def _split(self, heads: list[Task]) -> None:
        for channel in self.channels.values():
            if channel and channel[0] in heads:
                task = channel.popleft()
                parts = task.split()
                self._log("dispatch", self._card, "split", task.key, parts=len(parts))
                channel.extendleft(reversed(parts))
        self._failed, self._stuck_since = 0, None
        self._plan(self._calendar.now + self._dispatch.round_cycles)
