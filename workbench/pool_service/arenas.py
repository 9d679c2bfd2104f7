"""Arenas: shared memory that stands for the memory of cards, and that outlives the process that made it.

Python's resource tracker would unlink an arena when the process that made it, or any that attached to it, ends; here
the service alone decides when an arena goes, and one that was killed finds its arenas again. So arenas are never
tracked: by a parameter from Python 3.13 on, before that by keeping the tracker out of sight for the moment. (To tell it
and to take that back at once would not do: processes that were spawned by one parent share a tracker, and one would
take back what another had told.)

A driver allocation lies in a slot of its class: sizes up to the same power of two. An arena has far more addresses than
its card has bytes; pages are behind those that the driver has given. So each class can have addresses for as many slots
as could ever be in use at a time, none is searched for, and none is ever missing.
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
    """Put pages behind a part of an arena, so that no process that writes there is killed because the system has none
    left.

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
    stats = os.statvfs(_SHARED)
    return stats.f_bavail * stats.f_frsize


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
    """Return whether a file is this user's, and no other user may read or write it."""
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


PAGE = mmap.PAGESIZE


def addresses_for(size: int) -> int:
    """Return the addresses of the arena of a card of so many bytes.

    A slot of the class 2^k serves more than 2^(k-1) bytes, so fewer than `size` / 2^(k-1) are in use: at most twice the
    card's bytes a class.

    >>> addresses_for(PAGE) == 2 * PAGE * PAGE.bit_length(), addresses_for(0)
    (True, 0)
    """
    return _area(size) * (_class_of(size) + 1) if size else 0


def _area(size: int) -> int:
    """Return the addresses of each class: whole pages, so that a slot of at least a page begins with one."""
    return 2 * max(1 << _class_of(size), PAGE)


def _class_of(size: int) -> int:
    """Return the exponent of the least power of two that holds a size."""
    return (size - 1).bit_length()


class Slots:
    """The slots of one arena, the one that became free last first.

    >>> slots = Slots(1 << 20)
    >>> one, other = slots.take(5000), slots.take(8192)
    >>> other - one, slots.give_back(one, 5000), slots.take(6000) == one
    (8192, None, True)
    """

    def __init__(self, size: int) -> None:
        classes = _class_of(size) + 1 if size else 0
        self._area = _area(size)
        self._free: list[list[int]] = [[] for _ in range(classes)]
        """Of each class, the places of slots that were used before."""
        self._fresh = [0] * classes
        """Of each class, the first place that never was."""

    def take(self, size: int) -> int:
        """Take the start of a slot that now belongs to the caller."""
        kind = _class_of(size)
        if self._free[kind]:
            place = self._free[kind].pop()
        else:
            place = self._fresh[kind]
            self._fresh[kind] += 1
        return kind * self._area + (place << kind)

    def give_back(self, start: int, size: int) -> None:
        """Free a slot again."""
        kind = _class_of(size)
        self._free[kind].append((start - kind * self._area) >> kind)

    def is_slot(self, start: int, size: int) -> bool:
        """Return whether a range of so many bytes may lie there."""
        kind = _class_of(size)
        place = start - kind * self._area
        return size > 0 and kind < len(self._fresh) and 0 <= place < self._area and place % (1 << kind) == 0

    def take_all(self, taken: list[tuple[int, int]]) -> None:
        """Begin with these (start, bytes) taken, and nothing else."""
        places: list[set[int]] = [set() for _ in self._fresh]
        for start, size in taken:
            kind = _class_of(size)
            places[kind].add((start - kind * self._area) >> kind)
        self._fresh = [max(used, default=-1) + 1 for used in places]
        self._free = [
            [place for place in range(fresh) if place not in used] for fresh, used in zip(self._fresh, places)
        ]
