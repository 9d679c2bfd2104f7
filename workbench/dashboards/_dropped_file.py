"""A file dropped into the page, kept as long as the dashboard is open, and the lasting copy that a sweep names.

It is a temporary file; one that a saved sweep names is copied into the folder of that sweep, by its digest.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from workbench.errors import StoreError
from workbench.experiments.sweep import with_files
from workbench.number_text import bytes_said

MOST_BYTES = 256 << 20
"""Larger files are named by their path: the page would be busy with them for longer than one waits."""
FOLDER = "dropped"
"""The folder of the copies, in the folder where the dashboard was started."""


class DropZone(anywidget.AnyWidget):
    """A place in the page that takes one file at a time; a new one takes the last one's place.

    The file comes in pieces. What is larger than `MOST_BYTES` is refused in the browser, before anything is sent, and
    here as well.
    """

    _esm = Path(__file__).parent / "scripts" / "drop_zone.js"
    most_bytes = traitlets.Int(MOST_BYTES).tag(sync=True)
    prompt = traitlets.Unicode("").tag(sync=True)
    """What stands there before a file was dropped."""
    words = traitlets.Unicode("").tag(sync=True)
    """What became of the last file."""

    def __init__(self, prompt: str, on_receive: Callable[[Path], None]) -> None:
        super().__init__(prompt=prompt)
        self._on_receive = on_receive
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-dropped-")
        self.copies = LastingCopies(Path(self._folder.name))
        self._path = Path()
        self._left: int | None = None  # bytes that are still to come; None = no file is on its way
        self.on_msg(self._on_message)

    def close(self) -> None:
        """Delete the file, then close as every widget does."""
        self._folder.cleanup()
        super().close()

    def _on_message(self, _widget: object, message: dict[str, Any], pieces: list[memoryview]) -> None:
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
        size = sum(len(piece) for piece in pieces)
        if size <= left:
            with self._path.open("ab") as file:
                file.writelines(pieces)
        return size

    def _end(self, whole: bool) -> None:
        self._left = None
        if not whole:
            self.words = f"{self._path.name} did not arrive whole; drop it again."
            return
        self.words = f"{self._path.name}: {bytes_said(self._path.stat().st_size)}"
        self._on_receive(self._path)


class LastingCopies:
    """Copies of the temporary files that sweeps name, each made once."""

    def __init__(self, temporary: Path) -> None:
        """Take `temporary` as the folder whose files do not last."""
        self._temporary = temporary.resolve()
        self._copies: dict[tuple[Path, int], str] = {}

    def in_sweep(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return the same sweep with every temporary file that it names called by its copy.

        Raises
        ------
        StoreError
            The copy cannot be written.
        """
        return with_files(config, Path(), self._lasting)

    def _lasting(self, path: Path) -> str:
        if self._temporary not in path.resolve().parents:
            return str(path)
        key = path, path.stat().st_mtime_ns
        if key not in self._copies:
            self._copies[key] = _copied(path)
        return self._copies[key]


def _copied(path: Path) -> str:
    """Copy a file unless its copy is there; return its path from where the dashboard was started."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
    copy = Path(FOLDER, f"{digest}-{path.name}")
    partial = copy.with_name(f".{copy.name}.part")
    try:
        if not copy.exists():
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, partial)
            partial.replace(copy)
    except OSError as problem:
        raise StoreError(f"{copy} cannot be written: {problem.strerror}.") from None
    return copy.as_posix()
