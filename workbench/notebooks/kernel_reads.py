"""What a notebook reads while it runs: files and listings of folders, noted by an audit hook in its kernel.

A hook can never be taken back (PEP 578), so only the kernels of a batch have it. Each line of the record is a path with
the digest of its content as it was read, or a path that the notebook writes. Files that a notebook writes are no input
of it, nor are those in a folder that it makes or in a results folder that it writes to. Nothing tells what native
readers such as Arrow's open, and what a program reads that the notebook starts.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from workbench.errors import shown
from workbench.experiments.results_folder import LOCK
from workbench.identity.observed import is_of_the_system
from workbench.identity.owner import installed_folders
from workbench.identity.reads import ABSENT, digest_of_file

_SETTINGS = (".cache", ".config", ".ipython", ".jupyter", ".local", ".matplotlib")
"""Folders in the user's home that libraries keep for themselves."""
_PYTHON = tuple(
    os.path.realpath(folder) + os.sep
    for folder in (*map(str, installed_folders()), os.path.join(sys.base_prefix, "lib"))
)
"""Where Python and packages lie behind the links of an environment."""
_WRITTEN = None
"""Stands for the digest of what the notebook writes."""


def record(to: str) -> None:
    """Have this process, a kernel, write down what it reads from now on, into a file."""
    sys.addaudithook(_Recorder(to).hook)


class _Recorder:
    """Writes down each path once as it is read, and once as it is written."""

    def __init__(self, to: str) -> None:
        self._file = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._busy = threading.local()
        self._known: set[tuple[str, bool]] = set()
        self._events = {"open": self._opened, "os.listdir": self._listed, "os.scandir": self._listed}
        self._events |= {"os.mkdir": self._made, "os.rename": self._renamed}

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event; what goes wrong here must not show in the notebook."""
        noted = self._events.get(event)
        if noted is None or getattr(self._busy, "now", False):
            return
        self._busy.now = True
        try:
            noted(arguments)
        except (OSError, TypeError, ValueError):
            pass
        finally:
            self._busy.now = False

    def _opened(self, arguments: tuple[Any, ...]) -> None:
        path, _, flags = arguments
        if isinstance(path, int):
            return
        if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            place = os.path.abspath(os.fsdecode(path))
            self._note(os.path.dirname(place) if os.path.basename(place) == LOCK else place, is_written=True)
        else:
            self._note(path)

    def _listed(self, arguments: tuple[Any, ...]) -> None:
        if not isinstance(arguments[0], int) and not _is_a_search_for_modules():
            self._note(arguments[0] or ".")

    def _made(self, arguments: tuple[Any, ...]) -> None:
        if not os.path.isdir(arguments[0]):
            self._note(arguments[0], is_written=True)

    def _renamed(self, arguments: tuple[Any, ...]) -> None:
        self._note(arguments[1], is_written=True)

    def _note(self, path: Any, is_written: bool = False) -> None:
        place = os.path.abspath(os.fsdecode(path))
        if place.endswith(".pyc") and not is_written:
            place = source_from_cache(place)
        if (place, is_written) in self._known or _is_no_input(place):
            return
        self._known.add((place, is_written))
        digest = _WRITTEN if is_written else digest_of_file(place)
        os.write(self._file, f"{json.dumps([place, digest])}\n".encode())


def _is_a_search_for_modules() -> bool:
    """Return whether Python lists a folder to find a module in it."""
    frame = sys._getframe(3)
    return str(frame.f_globals.get("__name__")).startswith("importlib")


def _is_no_input(place: str) -> bool:
    """Return whether a file is Python's, a package's or the system's, or holds settings of the user's."""
    settings = (os.path.join(os.path.expanduser("~"), folder) + os.sep for folder in _SETTINGS)
    return is_of_the_system(place) or place.startswith((*_PYTHON, *settings, "/etc/", "/usr/share/zoneinfo/"))


def inputs_of(record: Path, folder: Path) -> dict[str, str]:
    """Return the files that a notebook has read by the path from a folder, each with its digest; none that it writes.

    What is another now than when it was read was written by what the notebook started, and is no input either.
    """
    try:
        lines = [json.loads(line) for line in record.read_text().splitlines() if line.endswith("]")]  # else cut off
    except FileNotFoundError:  # a kernel of another language, or one that did not start
        return {}
    written = {place for place, digest in lines if digest is _WRITTEN}
    own = tuple(place + os.sep for place in written)
    reads = {place: digest for place, digest in lines if place not in written and not place.startswith(own)}
    return {os.path.relpath(place, folder): digest for place, digest in reads.items() if _now(place) == digest}


def changed_input(reads: object, folder: Path) -> str:
    """Return the first file that is not what it was when a notebook read it, empty where none is."""
    if not isinstance(reads, Mapping):
        return "the record of its files"
    return next((shown(name) for name, digest in reads.items() if _now(os.path.join(folder, str(name))) != digest), "")


def _now(place: str) -> str:
    """Return the digest of a file or a folder; of nothing else, for a device has no end."""
    return digest_of_file(place) if os.path.isfile(place) or os.path.isdir(place) else ABSENT
