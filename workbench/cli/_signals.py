"""What a signal does to a command: the first asks runs to end, a later one ends the process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
MOST_SIGNALS = 3
"""The signal that ends the process at once: whatever is still being ended does not end by itself."""


class Stop:
    """How often the process was asked to stop, and by which signal first."""

    def __init__(self) -> None:
        self.times = 0
        self.number: int = signal.SIGINT

    @property
    def exit_status(self) -> int:
        """Return the status that shells give to a process that ended by the signal."""
        return 128 + self.number

    def heed(self, number: int, frame: FrameType | None) -> None:
        """Stop what is under way at the first signal, wait at the second, end at the third."""
        self.times += 1
        if self.times == 1:
            self.number = number
            raise KeyboardInterrupt
        if self.times < MOST_SIGNALS:
            _say_at_once("workbench: stopping; what is finished is kept (once more ends it at once).")
        else:
            os._exit(self.exit_status)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Raise `KeyboardInterrupt` once, within this context, at the signals that ask to end.

    A signal that is ignored (as `nohup` has it) stays so. After one came its kind is heard quietly for as long as the
    process lives: what ends it takes a moment.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, stop.heed)
    try:
        yield stop
    finally:
        if not stop.times:
            for number, handler in before.items():
                signal.signal(number, handler)


def _say_at_once(line: str) -> None:
    """Write a line past Python's streams, which the signal may have found in the middle of another."""
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"{line}\n".encode())
