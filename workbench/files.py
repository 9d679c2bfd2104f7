"""What is to be known of files: whether one has changed, its digest, its file system, how its text is encoded.

What was read of a file is kept for as long as the file is surely as it was. A file's times and its size do not tell
every change: a file that is written twice within a tick of the clock may have the same ones. What was read of a file
therefore counts from two seconds after its last change on, and on a network, where times come from another clock and
from caches, for two seconds at most. On a network SQLite's locks and shared memory cannot be relied upon either.

The encoding that a text announces by its first bytes is taken away: a byte order mark, or UTF-16 made UTF-8. Windows'
editors put a mark before UTF-8, and `>` of its PowerShell writes UTF-16. No binary format that is read here begins so.

And where the workbench keeps what it can make or fetch again.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from workbench.errors import unreadable

GRAIN_NS = 2 * 10**9
"""The coarsest clock of a file system in use (FAT's)."""

T = TypeVar("T")


class State(NamedTuple):
    """What changes when a file is written again, unless that happens within a tick of the clock."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int


def state_of(path: Path | str) -> State | None:
    """Return the state of a file; None where there is no file to ask, which reading it will say."""
    try:
        now = Path(path).stat()
    except (OSError, ValueError):
        return None
    return State(now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)


class _Entry(NamedTuple, Generic[T]):
    value: T
    state: State | None
    taken_ns: int
    surely: bool
    """Whether the state tells every change since."""


class FileMemo(Generic[T]):
    """Remembers what was read of files.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     memo, path = FileMemo[str](), Path(folder, "a")
    ...     for text in ("one", "two"):
    ...         _ = path.write_text(text)
    ...         print(memo.get(path, path, lambda before: path.read_text()))
    one
    two
    """

    def __init__(self, most: int = 256) -> None:
        """Remember at most so many files."""
        self._most = most
        self._known: OrderedDict[Hashable, _Entry[T]] = OrderedDict()

    def __identity__(self) -> tuple[()]:
        """Return nothing: what is remembered changes no result, so it is no part of what names a run."""
        return ()

    def get(self, key: Hashable, path: Path | str, read: Callable[[T | None], T], anew: bool = False) -> T:
        """Return the content of a file, read again if it may have changed.

        Parameters
        ----------
        key : hashable
            What is remembered, usually the path.
        path : path
            The file.
        read : callable
            Reads it; given what was read before, if anything was, which it may return where that still holds.
        again : bool
            Read a file on a network again even if that was done a moment ago, as a plan does.
        """
        entry, state = self._known.get(key), state_of(path)
        if entry is not None and entry.state == state and _holds(entry, anew):
            return entry.value
        value = read(entry.value if entry is not None else None)
        taken = time.time_ns()
        surely = state is not None and state == state_of(path) and _is_old(state, taken) and not _is_far(path)
        self._known[key] = _Entry(value, state, taken, surely)
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return value


def _holds(entry: _Entry[T], anew: bool) -> bool:
    if entry.surely:
        return True
    fresh = 0 <= time.time_ns() - entry.taken_ns < GRAIN_NS
    return fresh and not anew and entry.state is not None and _is_old(entry.state, entry.taken_ns)


def _is_old(state: State, now_ns: int) -> bool:
    """Return True if a write that leaves the state as it is would have had to happen before now."""
    return now_ns - max(state.modified_ns, state.changed_ns) > GRAIN_NS


def _is_far(path: Path | str) -> bool:
    return on_network(Path(path).absolute().parent)


def digest_of_file(path: Path, anew: bool = False) -> str:
    """Return the sha256 of a file's bytes, taken again whenever the file may have changed; `anew` as of
    `FileMemo.get`."""
    return _digests.get(path, path, lambda _: _digest(path), anew)


_digests = FileMemo[str]()


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise unreadable(path, problem) from None


_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|lustre|gpfs|beegfs|ceph|glusterfs|afs|9p|pvfs2|orangefs|panfs|wekafs|gfs2|ocfs2|"
    r"fuse\.(sshfs|s3fs|glusterfs|ceph.*|gcsfuse|goofys|rclone|juicefs|cvmfs\d?|beegfs.*|moosefs|mfs)"
)


def on_network(folder: Path) -> bool:
    """Return whether a folder (or the first of its parents that there is) lies on a network file system; no where
    unknown."""
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(_NETWORK.fullmatch(kind_of(folder.resolve(), mounts)))


def kind_of(path: Path, mounts: str) -> str:
    r"""Return the type of the file system that holds a path, by a table in the form of `/proc/self/mountinfo`.

    >>> table = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 22 0:52 / /home/my\\040data rw shared:1 - nfs4 host:/x rw\n"
    >>> kind_of(Path("/home/my data/sweep"), table), kind_of(Path("/home"), table)
    ('nfs4', 'ext4')
    """
    best, kind = -1, ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def cache_home() -> Path:
    """Return the user's cache folder for this package; `WORKBENCH_CACHE` names another one."""
    named = os.environ.get("WORKBENCH_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpu-policy-workbench"


_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def as_utf8(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a text without its byte order mark, in UTF-8 where they were in UTF-16.

    What is no UTF-16 is replaced, as it is wherever text is read here.

    >>> list(as_utf8([codecs.BOM_UTF8 + b"GPU0"])), list(as_utf8([codecs.BOM_UTF16_LE + b"G", b"\\0P\\0"]))
    ([b'GPU0'], [b'', b'GP', b''])
    """
    rest = iter(pieces)
    first = next(rest, b"")
    encoding = _UTF16.get(first[:2])
    if encoding is None:
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from rest
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    yield decoder.decode(first[2:]).encode()
    for piece in rest:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()  # a lone half at the end
