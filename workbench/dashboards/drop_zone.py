"""A file of the user's own, dropped into the page: kept as a temporary file for as long as the dashboard is open."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.dashboards.lasting import LastingCopies
from workbench.units import bytes_said

MOST_BYTES = 256 << 20
"""Larger files are named by their path: the page would be busy with them for longer than one waits."""


class DropZone(anywidget.AnyWidget):
    """A place in the page that takes one file at a time; a new one takes the last one's place.

    The file comes in pieces. What is larger than `MOST_BYTES` is refused in the browser, before anything is sent, and
    here as well.
    """

    _esm = Path(__file__).with_name("drop_zone.js")
    most_bytes = traitlets.Int(MOST_BYTES).tag(sync=True)
    asks = traitlets.Unicode("").tag(sync=True)
    """What stands there before a file was dropped."""
    words = traitlets.Unicode("").tag(sync=True)
    """What became of the last file."""

    def __init__(self, asks: str, taken: Callable[[Path], None]) -> None:
        super().__init__(asks=asks)
        self._taken = taken
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-dropped-")
        self.copies = LastingCopies(Path(self._folder.name))
        self._path = Path()
        self._left: int | None = None  # bytes that are still to come; None = no file is on its way
        self.on_msg(self._heard)

    def close(self) -> None:
        """Delete the file, then close as every widget does."""
        self._folder.cleanup()
        super().close()

    def _heard(self, _widget: object, message: dict[str, Any], pieces: list[memoryview]) -> None:
        match message.get("what"):
            case "too_large":
                self._refuse(message)
            case "begin":
                self._begin(message)
            case "piece" if self._left is not None:
                self._left -= self._add(pieces, self._left)
            case "end" if self._left is not None:
                self._end(whole=self._left == 0)

    def _refuse(self, message: dict[str, Any]) -> None:
        most, size = bytes_said(self.most_bytes), bytes_said(message["bytes"])
        self.words = (
            f"{message['name']} must have at most {most}. Got {size}. Write its path into trace_pool.trace instead."
        )

    def _begin(self, message: dict[str, Any]) -> None:
        if message["bytes"] > self.most_bytes:
            self._refuse(message)
            return
        for old in Path(self._folder.name).iterdir():
            old.unlink()
        self._path = Path(self._folder.name, Path(message["name"]).name or "dropped")
        self._path.write_bytes(b"")
        self._left = message["bytes"]
        self.words = f"{self._path.name} is on its way ..."

    def _add(self, pieces: list[memoryview], left: int) -> int:
        """Add what came, unless it is more than is left; return how much it was."""
        came = sum(len(piece) for piece in pieces)
        if came <= left:
            with self._path.open("ab") as file:
                file.writelines(pieces)
        return came

    def _end(self, whole: bool) -> None:
        self._left = None
        if not whole:
            self.words = f"{self._path.name} did not arrive whole; drop it again."
            return
        self.words = f"{self._path.name}: {bytes_said(self._path.stat().st_size)}"
        self._taken(self._path)
