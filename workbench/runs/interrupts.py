"""The driver's own interrupt: which exception it is, what holds it back, and what raises it again.

It is known by the signal (Ctrl-C, or a signal that asks the driver to end), not by the type of the exception. A policy
may raise `KeyboardInterrupt` like anything else, and may swallow the one that was meant for the driver.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class _State:
    noticing = False
    received = False
    held = False
    waiting: tuple[Handler, int] | None = None


_state = _State()


@contextmanager
def noticed() -> Iterator[None]:
    """Remember a signal whose handler raises `KeyboardInterrupt`, within this context and in the main thread, as
    received."""
    if _state.noticing or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: result for number in _SIGNALS if callable(result := signal.getsignal(number))}
    _state.noticing, _state.received = True, False
    try:
        for number, handler in before.items():
            signal.signal(number, _noticing(handler))
        yield
    finally:
        _state.noticing = False
        for number, handler in before.items():
            signal.signal(number, handler)


def _noticing(handler: Handler) -> Handler:
    def notice(number: int, frame: FrameType | None) -> None:
        if _state.held and _state.waiting is None:
            _state.waiting = handler, number
            return
        try:
            handler(number, frame)
        except KeyboardInterrupt:
            _state.received = True
            raise

    return notice


class held_back:
    """Hold a signal back within this context, in the main thread: what is being written is written to its end.

    A class, as every row is written within one: a generator would cost three times as much.
    """

    __slots__ = ("_holds",)

    def __enter__(self) -> None:
        self._holds = _state.noticing and not _state.held and threading.current_thread() is threading.main_thread()
        _state.held |= self._holds

    def __exit__(self, *problem: object) -> None:
        if not self._holds:
            return
        _state.held = False
        waiting, _state.waiting = _state.waiting, None
        if waiting is not None:
            handler, number = waiting
            _noticing(handler)(number, None)


def is_own(problem: BaseException) -> bool:
    """Return True if an exception is the driver's own interrupt: it is in the main thread, and a signal came.

    Where signals are not noticed it is unknown, and counts as the driver's.
    """
    if not isinstance(problem, KeyboardInterrupt) or threading.current_thread() is not threading.main_thread():
        return False
    return _state.received or not _state.noticing


def raise_swallowed() -> None:
    """Raise the driver's interrupt again if a user's code caught it and went on."""
    if _state.noticing and _state.received and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt
