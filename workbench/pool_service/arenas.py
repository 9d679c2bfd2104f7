"""Arenas: shared memory that stands for the memory of cards, and that outlives the process that made it.

Python's resource tracker would unlink an arena when the process that made it, or any that attached to it, ends; here
the service alone decides when an arena goes, and one that was killed finds its arenas again. So arenas are never
tracked: by a parameter from Python 3.13 on, before that by keeping the tracker out of sight for the moment. (To tell it
and to take that back at once would not do: processes that were spawned by one parent share a tracker, and one would
take back what another had told.)
"""

from __future__ import annotations

import mmap
import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import shared_memory
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

from workbench.errors import InputError

_HAS_PARAMETER = sys.version_info >= (3, 13)
_hiding = threading.Lock()
_SHARED = "/dev/shm"


def make_arena(name: str, size: int) -> SharedMemory:
    """Make a new arena of so many addresses, readable by this user alone; no pages are behind them yet.

    Raises
    ------
    InputError
        There is one of this name, or the system cannot make it.
    """
    try:
        return _untracked(name=name, create=True, size=size)
    except FileExistsError:
        raise InputError(f"the arena {name} exists already; another service has it.") from None
    except OSError as problem:
        raise InputError(f"an arena of {size} addresses cannot be made ({problem.strerror}).") from None


def attach_arena(name: str) -> SharedMemory | None:
    """Attach an arena that is there; None = there is none of this name that is this user's alone.

    Whoever could read a service's description can make shared memory of these names once the arenas are gone.

    Raises
    ------
    InputError
        This process has no addresses left for it; the arena stays as it is.
    """
    try:
        arena = _untracked(name=name)
    except (FileNotFoundError, PermissionError, ValueError):
        return None
    except OSError as problem:
        raise InputError(f"the arena {name} cannot be mapped ({problem.strerror}); take a smaller card.") from None
    if _is_own(os.fstat(arena._fd)):  # type: ignore[attr-defined]
        return arena
    detach_arena(arena)
    return None


def unlink_left(name: str) -> None:
    """Unlink what a killed service left under an arena's name, if it is this user's; it need not be whole."""
    path = Path(_SHARED, name)
    with suppress(FileNotFoundError):
        if path.lstat().st_uid == os.geteuid():
            path.unlink()


def memory_of(arena: SharedMemory) -> memoryview:
    """Return the bytes of an arena."""
    assert arena.buf is not None
    return arena.buf


def reserve_pages(arena: SharedMemory, start: int, size: int) -> None:
    """Put pages behind a part of an arena, so that nobody who writes there is killed because the system has none left.

    Raises
    ------
    OSError
        The system has none left.
    """
    os.posix_fallocate(arena._fd, start, size)  # type: ignore[attr-defined]


def discard_pages(arena: SharedMemory, start: int, size: int) -> None:
    """Give the pages back that begin with a part of an arena; what is read there afterwards is zeros."""
    whole = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    arena._mmap.madvise(mmap.MADV_REMOVE, start, whole)  # type: ignore[attr-defined]


def free_pages() -> int:
    """Return the bytes that the system can put behind arenas."""
    room = os.statvfs(_SHARED)
    return room.f_bavail * room.f_frsize


def unlink_arena(arena: SharedMemory) -> None:
    """Unlink the arena's name; its memory goes when the last process has let go of it."""
    with _tracker_hidden():
        arena.unlink()


def detach_arena(arena: SharedMemory) -> None:
    """Let go of an arena; where views of its memory are still in use, when they are not any more."""
    try:
        arena.close()
    except BufferError:
        arena._buf = arena._mmap = None  # type: ignore[attr-defined]
        arena.close()


def _is_own(status: os.stat_result) -> bool:
    """Return whether a file is this user's, and nobody else may read or write it."""
    return status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077


class _Arena(SharedMemory):
    """Is let go of in silence by an application that ends while it still looks at a region.

    One that cannot be mapped is unlinked by Python; here only if it was to be made, for it serves others otherwise.
    """

    _may_unlink = True

    def __init__(self, name: str, create: bool = False, **options: Any) -> None:
        self._may_unlink = create
        super().__init__(name, create, **options)
        self._may_unlink = True

    def unlink(self) -> None:
        if self._may_unlink:
            super().unlink()

    def __del__(self) -> None:
        with suppress(AttributeError):  # it was never opened
            detach_arena(self)


def _untracked(**options: Any) -> SharedMemory:
    if _HAS_PARAMETER:
        options["track"] = False
    with _tracker_hidden():
        return _Arena(**options)


class _NoTracker:
    """Is told of resources and forgets them."""

    @staticmethod
    def register(name: str, kind: str) -> None:
        pass

    @staticmethod
    def unregister(name: str, kind: str) -> None:
        pass


@contextmanager
def _tracker_hidden() -> Iterator[None]:
    if _HAS_PARAMETER:
        yield
        return
    module: Any = shared_memory
    with _hiding:
        theirs, module.resource_tracker = module.resource_tracker, _NoTracker
        try:
            yield
        finally:
            module.resource_tracker = theirs
