"""What a user's code prints during a run: kept out of the command's output, and shown as whole lines, bounded."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.runs.faults import shortened

MOST_OF_BUNDLE = 4_000
"""Letters that a bundle of runs may print; the rest is counted."""

MOST_OF_LINE = 300
"""Letters of a line that are shown."""

MOST_LINES = 100
"""Lines of all runs that a sweep shows."""


class Printed:
    """What one thread printed, up to a bound.

    >>> printed = Printed(most=5)
    >>> printed.add("abc"); printed.add("defgh"); printed.text()
    'abcde\\n(3 more letters were printed)\\n'
    """

    def __init__(self, most: int = MOST_OF_BUNDLE) -> None:
        self._pieces: list[str] = []
        self._left, self._more = most, 0

    def add(self, text: str) -> None:
        """Take in a piece."""
        piece = text[: self._left]
        if piece:
            self._pieces.append(piece)
        self._left -= len(piece)
        self._more += len(text) - len(piece)

    def text(self) -> str:
        """Return the output, and how much was left out."""
        more = f"\n({self._more:,} more letters were printed)\n" if self._more else ""
        return "".join(self._pieces) + more


_captured: dict[int, Printed] = {}
"""By thread."""


@contextmanager
def captured(printed: Printed) -> Iterator[None]:
    """Keep what the present thread prints within this context instead of showing it, where `routed` is in force."""
    thread = threading.get_ident()
    _captured[thread] = printed
    try:
        yield
    finally:
        _captured.pop(thread, None)


class _Routed(io.TextIOBase):
    """Stands for `sys.stdout` or `sys.stderr`: what a thread that is captured writes is kept, the rest goes through."""

    def __init__(self, through: Any) -> None:
        self.through = through

    def write(self, text: str) -> int:
        printed = _captured.get(threading.get_ident())
        if printed is None:
            return int(self.through.write(text) or 0)
        printed.add(str(text))
        return len(text)

    def flush(self) -> None:
        if threading.get_ident() not in _captured and not self.through.closed:
            self.through.flush()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return bool(self.through.isatty())

    def fileno(self) -> int:
        return int(self.through.fileno())

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return str(self.through.encoding)

    @property
    def buffer(self) -> Any:
        return _Bytes(self) if threading.get_ident() in _captured else self.through.buffer

    def close(self) -> None:
        """Stay open: the stream behind is not ours."""

    def __del__(self) -> None: ...


class _Bytes(io.RawIOBase):
    """The same for bytes."""

    def __init__(self, text: _Routed) -> None:
        self._text = text

    def write(self, data: Any) -> int:
        self._text.write(bytes(data).decode(errors="replace"))
        return len(data)


@contextmanager
def routed() -> Iterator[None]:
    """Let what captured threads print within this context go nowhere else; threads that were left behind stay so after
    it."""
    install()
    try:
        yield
    finally:
        if not _captured:
            _remove()


def contain() -> None:
    """Keep what threads that were left behind print out of the output, however the streams were replaced since."""
    if _captured:
        install()


def install() -> None:
    """Have everything that is printed by captured threads kept, until `routed` ends."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Routed):
            setattr(sys, name, _Routed(stream))


def _remove() -> None:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, _Routed):
            setattr(sys, name, stream.through)


class Echo:
    """Shows what runs printed on standard error, each line marked, no more than so many of a sweep."""

    def __init__(self, most: int = MOST_LINES) -> None:
        self._left = most

    def show(self, text: str) -> None:
        """Show the lines of a text."""
        for line in text.splitlines():
            if self._left < 0:
                return
            self._left -= 1
            line_shown = (
                f"| {shortened(line, MOST_OF_LINE)}"
                if self._left >= 0
                else "| (what runs print from here on is not shown)"
            )
            print(line_shown, file=sys.stderr, flush=True)
