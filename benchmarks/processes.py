"""A process-based simulator in plain Python, as SimPy is one: generators that wait for times and events, over a heap.

SimPy is not among the locked packages, so its way of writing a model stands here in its smallest form. It does less
than SimPy at every step (no conditions, no interrupts, no failures), so a model written for it runs no slower.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator
from itertools import count

Process = Generator["int | Signal", None, None]
"""Yields a number of cycles to wait, or a signal to wait for."""


class Signal:
    """Something that processes wait for, again and again."""

    def __init__(self) -> None:
        self.waiting: list[Process] = []


class Clock:
    """The event loop: what is due next, in order of time and then of being asked for."""

    def __init__(self) -> None:
        self.now = 0
        self.events = 0
        self._due: list[tuple[int, int, Process]] = []
        self._serial = count()

    def start(self, process: Process, after: int = 0) -> None:
        """Let a process go on after so many cycles."""
        heapq.heappush(self._due, (self.now + after, next(self._serial), process))

    def fire(self, signal: Signal) -> None:
        """Let everyone who waits for a signal go on, behind what is due now."""
        for process in signal.waiting:
            self.start(process)
        signal.waiting.clear()

    def run(self) -> None:
        """Until nobody waits for a time."""
        while self._due:
            self.now, _, process = heapq.heappop(self._due)
            self.events += 1
            for wait in process:
                if isinstance(wait, Signal):
                    wait.waiting.append(process)
                else:
                    self.start(process, wait)
                break
