"""What code of the user's reads beside itself while it runs: files, listings of folders, variables of the environment.

Python tells of these by audit events (PEP 578). A hook for them can never be taken back, so it lives in processes that
are the workbench's own: its workers, and the process that repeats runs; never in the user's kernel. No event tells that
somebody asks what a file is (`exists`, `Path.stat`), so these functions of `os` are wrapped there. Nothing tells what
native readers such as Arrow's open and what compiled code does; such files are declared (`inputs = ["scale.txt"]`), and
repeating runs stands behind the rest.
"""

from __future__ import annotations

import functools
import hashlib
import linecache
import os
import platform
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from weakref import WeakSet

from workbench.identity.owner import installed_folders, owner_of
from workbench.identity.snapshot import current, under_way

MOST = 1000
"""How many files and variables of one piece of code are remembered; beyond, no digest stands for what it reads."""

ABSENT = ""
"""The digest of a file or a variable that is not there."""

_IS = "is "


class Reads(NamedTuple):
    """What some code read, each with a digest of what it held then, and what it did that no digest can stand for."""

    files: Mapping[str, str] = {}
    """By the absolute path: the digest of the content, of a folder that of the names in it; of what was only asked for,
    what it is (`is a file of 12 bytes`)."""
    variables: Mapping[str, str] = {}
    acts: tuple[str, ...] = ()
    """Parts of sentences: `starts the program git`."""

    def __or__(self, other: Reads) -> Reads:
        acts = dict.fromkeys((*self.acts, *other.acts))
        files = {**self.files, **other.files}
        for path, digest in self.files.items():
            if files[path].startswith(_IS) and not digest.startswith(_IS):
                files[path] = digest  # its content says more than what it is
        return Reads(files, {**self.variables, **other.variables}, tuple(acts))

    def changed(self) -> str:
        """Return what is another than it was when it was read, as a part of a sentence; empty where nothing is.

        >>> Reads(variables={"NO_SUCH_VARIABLE": ABSENT}).changed()
        ''
        >>> Reads(files={"/no/such/file": "8c"}).changed()
        'the file /no/such/file'
        """
        for path, digest in self.files.items():
            if (_what_is(path) if digest.startswith(_IS) else digest_of_file(path)) != digest:
                return f"the file {path}"
        for name, digest in self.variables.items():
            if _digest_of_variable(name) != digest:
                return f"the variable {name} of the environment"
        return ""


def digest_of_file(path: str) -> str:
    """Return 32 hexadecimal digits for what a file holds, or for the names in a folder; `ABSENT` where nothing can be
    read. A large file is read once as long as its times and its size stay."""
    try:
        if os.path.isdir(path):
            return hashlib.blake2b("\0".join(sorted(os.listdir(path))).encode(), digest_size=16).hexdigest()
        state = os.stat(path)
        return _content(path, state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
    except (OSError, ValueError):
        return ABSENT


def _what_is(path: str) -> str:
    """Return whether there is a file or a folder, where a link leads, and of how many bytes a file is."""
    try:
        if os.path.islink(path):
            return f"{_IS}a link to {os.readlink(path)}"
        state = os.stat(path)
    except (OSError, ValueError):
        return f"{_IS}absent"
    if not stat.S_ISREG(state.st_mode):
        return f"{_IS}a folder" if stat.S_ISDIR(state.st_mode) else f"{_IS}neither file nor folder"
    return f"{_IS}a file of {state.st_size} bytes"


def _content(path: str, *state: int) -> str:
    modified, changed, size, _ = state
    if size < _LARGE or time.time_ns() - max(modified, changed) < _GRAIN_NS:
        return _content_now(path)
    return _content_of_large(path, *state)


_LARGE = 1 << 20
_GRAIN_NS = 2 * 10**9
"""The coarsest clock of a file system in use (FAT's): only after this do times tell every change."""


@functools.lru_cache(256)
def _content_of_large(path: str, *state: int) -> str:
    return _content_now(path)


def _content_now(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _digest_of_variable(name: str) -> str:
    value = os.environ.get(name)
    return ABSENT if value is None else hashlib.blake2b(value.encode(errors="replace"), digest_size=16).hexdigest()


def declared_reads(things: Iterable[Any]) -> Reads:
    """Return the files that classes and functions of the user's declare as `inputs`, and those of modules of machine
    code that they refer to.

    A relative path is looked for beside the file that the code is written in, then where the command runs.
    """
    files = {}
    for thing in things:
        for module in current(thing).modules:
            place = getattr(sys.modules.get(module), "__file__", None) or ""
            if place.endswith(tuple(EXTENSION_SUFFIXES)):
                files[place] = digest_of_file(place)
        given = getattr(thing, "inputs", ())
        for one in (given,) if isinstance(given, (str, Path)) else given if isinstance(given, (list, tuple)) else ():
            if isinstance(one, (str, Path)):
                path = _declared_path(thing, Path(one))
                files[path] = digest_of_file(path)
    return Reads(files)


def _declared_path(thing: Any, path: Path) -> str:
    home = getattr(sys.modules.get(getattr(thing, "__module__", None) or ""), "__file__", None)
    beside = Path(home).parent / path if home else path
    return os.path.abspath(beside if beside.exists() else path)


_ACTS = {
    **dict.fromkeys(("os.fork", "os.forkpty"), "starts another process"),
    **dict.fromkeys(("socket.connect", "socket.getaddrinfo", "urllib.Request"), "asks another machine"),
    "socket.gethostname": "asks for the name of the machine",
}
_OF_THE_SYSTEM = ("/dev/", "/proc/", "/sys/")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_BY_ITSELF = ("importlib", "linecache", "numba", "tokenize")
"""What opens files by itself: to import (imports are part of the digest of code), to print lines, to keep machine
code."""
_OF_LINES = ("linecache", "tokenize")
"""Those of them that the user's code may call itself, to read a file."""
_RUNS = ("workbench.runs", "workbench.executors", "workbench.experiments")
"""The packages that execute runs: below their frames, nothing on the stack belongs to the run."""


class _Observer:
    """Notes what is read while some code is observed: one piece at a time, in one process."""

    def __init__(self) -> None:
        self.installed = False
        self.open = threading.local()
        self.threads: WeakSet[Any] = WeakSet()
        """The threads that code of the user's started: what they read, whatever is on their stacks, it reads."""
        self.reads: dict[str, Reads] = {}
        """By whom: what each read."""
        self._who = ""
        self._files: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._acts: dict[str, None] = {}
        self._written: set[str] = set()
        self._imports: dict[str, tuple[str, str]] = {}
        """By the files of modules that code which was observed imported first: whose that was, and the digest then."""
        programs = "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"
        self._notes: dict[str, Callable[[tuple[Any, ...], FrameType], None]] = {
            "ctypes.dlopen": self.loaded,
            "import": self.imported,
            "open": self.opened,
            "os.listdir": self.listed,
            "os.mkdir": self.made,
            "os.scandir": self.listed,
            "sqlite3.connect": self.connected,
            **dict.fromkeys(programs, self.started),
        }
        """By the events that are noted: what notes each."""

    def begin(self, who: str) -> None:
        self._who, self._files, self._variables, self._acts, self._written = who, {}, {}, {}, set()
        self._forget_imports(who)
        tempfile.tempdir = None  # both are looked for once a process, and read by each piece
        linecache.clearcache()

    def end(self) -> None:
        who, self._who = self._who, ""
        if self._files or self._variables or self._acts:
            reads = Reads(self._files, self._variables, tuple(self._acts))
            self.reads[who] = self.reads.get(who, Reads()) | reads

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event; whatever goes wrong here must not show in the run."""
        if event in self._notes or event in _ACTS:
            self.note(self._heard, event, arguments, sys._getframe(1))

    def note(self, go: Callable[..., None], *arguments: Any) -> None:
        """Call what notes something, unless nothing is observed; what that reads itself is not noted."""
        if not self._who or getattr(self.open, "busy", False):
            return
        self.open.busy = True
        try:
            go(*arguments)
        except Exception:
            self._acts["reads something that could not be noted"] = None
        finally:
            self.open.busy = False

    def _heard(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        if event == "import" or _is_the_users(frame) or (event == "open" and _imports(frame)):
            if event in _ACTS:
                self._acts[_ACTS[event]] = None
            else:
                self._notes[event](arguments, frame)

    def opened(self, arguments: tuple[Any, ...], frame: FrameType) -> None:
        path, _, flags = arguments
        if isinstance(path, int):
            return
        place = os.path.abspath(os.fsdecode(path))
        if _imports(frame):
            self._module(source_from_cache(place) if place.endswith(".pyc") else place)
        elif isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            if place not in self._files:
                self._written.add(place)
        else:
            self.file(place)

    def made(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        self._written.add(os.path.abspath(os.fsdecode(arguments[0])))

    def imported(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        if arguments[1]:  # a module of machine code, of which nothing else is in a digest
            self._module(os.path.abspath(arguments[1]))

    def _module(self, place: str) -> None:
        self.file(place)
        if place in self._files:
            self._imports[place] = self._who, self._files[place]

    def _forget_imports(self, who: str) -> None:
        """Have what others imported, or what has changed since, imported anew, so that it is seen to be read."""
        old = {one for one, (by, then) in self._imports.items() if by != who or digest_of_file(one) != then}
        for name, module in list(sys.modules.items()) if old else ():
            if getattr(module, "__dict__", {}).get("__file__") in old:
                del sys.modules[name]
        self._imports = {one: known for one, known in self._imports.items() if one not in old}

    def loaded(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        if os.sep in (path := os.fsdecode(arguments[0] or "")):
            self.file(os.path.abspath(path))

    def listed(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        (path,) = arguments
        if not isinstance(path, int):
            self.file(os.path.abspath(os.fsdecode(path or ".")))

    def connected(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        if isinstance(arguments[0], (str, bytes, os.PathLike)) and os.fsdecode(arguments[0]) != ":memory:":
            self.file(os.path.abspath(os.fsdecode(arguments[0])))

    def file(self, place: str, digest: Callable[[str], str] = digest_of_file) -> None:
        if place.startswith("/proc/") and place.endswith("/environ"):
            self._acts["reads all variables of the environment at once"] = None
        if not self._files.get(place, _IS).startswith(_IS) or is_of_the_system(place):
            return
        if any(place.startswith(made + os.sep) for made in self._written) or place in self._written:
            return
        if len(self._files) < MOST:
            self._files[place] = digest(place)
        else:
            self._acts[f"reads more than {MOST:,} files"] = None

    def status_read(self, path: Any, frame: FrameType) -> None:
        """Note that somebody asks what a file is."""
        if not isinstance(path, int) and _is_the_users(frame):
            place = os.path.abspath(os.fsdecode(path))
            if place not in self._files:
                self.file(place, _what_is)

    def hostname_read(self, _: Any, frame: FrameType) -> None:
        """Note that somebody asks for the machine's name, and not `platform` for more than that."""
        if _room(frame) != "platform" and _is_the_users(frame):
            self._acts[_ACTS["socket.gethostname"]] = None

    def variable(self, name: str, frame: FrameType) -> None:
        if _reads_itself(frame):
            self._variables.setdefault(name, _digest_of_variable(name))

    def started(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        named = next((one for one in arguments if isinstance(one, (str, bytes, os.PathLike)) and one), "another")
        self._acts[f"starts the program {Path(os.fsdecode(named).split()[0]).name}"] = None

    def begun(self, thread: threading.Thread, frame: FrameType) -> None:
        """Note a thread, of which not every Python tells, if the user's code starts it."""
        if _is_the_users(frame):
            self.threads.add(thread)


_EVENTS = {
    "ctypes.dlopen": _Observer.loaded,
    "import": _Observer.imported,
    "open": _Observer.opened,
    "os.listdir": _Observer.listed,
    "os.mkdir": _Observer.made,
    "os.scandir": _Observer.listed,
    "sqlite3.connect": _Observer.connected,
    **dict.fromkeys(("os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"), _Observer.started),
}

_observer = _Observer()


def is_of_the_system(place: str) -> bool:
    """Return whether a file is the system's, Python's, of an installed package, or what Python keeps of a module.

    >>> is_of_the_system("/proc/stat"), is_of_the_system(os.__file__), is_of_the_system("/home/ada/weights.csv")
    (True, True, False)
    """
    own = f"{place}{os.sep}".startswith((_PACKAGE, *_OF_THE_SYSTEM)) or "__pycache__" in place
    return own or any(Path(place).is_relative_to(folder) for folder in installed_folders())


def _is_the_users(frame: FrameType | None) -> bool:
    """Return whether code of the user's is on the stack, below whatever library reads for it, or started the thread."""
    if (room := _room(frame)) in _BY_ITSELF:
        while _room(frame) in _OF_LINES:
            frame = frame.f_back if frame is not None else None
        return room in _OF_LINES and frame is not None and owner_of(frame.f_globals.get("__name__")) == "user"
    return next(_users(frame), None) is not None or threading.current_thread() in _observer.threads


def _users(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the user's code, from within outwards, until those of what runs it."""
    while frame is not None and not (name := str(frame.f_globals.get("__name__"))).startswith(_RUNS):
        if owner_of(name) == "user":
            yield frame
        frame = frame.f_back


def _imports(frame: FrameType | None) -> bool:
    """Return whether a file is opened as a function of the user's has a module imported."""
    return _room(frame) == "importlib" and any(one.f_code.co_name != "<module>" for one in _users(frame))


def _reads_itself(frame: FrameType | None) -> bool:
    """Return whether the user's code asks for a variable, by itself or by Python; what another library reads for
    itself is the library's."""
    while frame is not None and _room(frame) in sys.stdlib_module_names:
        frame = frame.f_back
    if frame is None:
        return threading.current_thread() in _observer.threads
    return frame.f_globals.get("__name__") == "__main__" or owner_of(frame.f_globals.get("__name__")) == "user"


def _room(frame: FrameType | None) -> str:
    """Return the outermost package of the module that a frame executes code of."""
    return "" if frame is None else str(frame.f_globals.get("__name__")).partition(".")[0]


class _Environ(os._Environ):
    """The variables of the environment, which say when one is read; named as they are where nothing is observed."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (str, bytes)):
            _observer.note(_observer.variable, os.fsdecode(key), sys._getframe(1))
        return super().__getitem__(key)


def observe() -> None:
    """Install the hook in this process, for good: a worker, never a process of the user's."""
    if not _observer.installed:
        _observer.installed = True
        sys.addaudithook(_observer.hook)
        os.environ.__class__ = _Environ
        if os.supports_bytes_environ:
            os.environb.__class__ = _Environ
        for name in ("stat", "lstat", "access", "readlink"):
            _wrap(os, name, _observer.status_read)
        for module, name in ((os, "uname"), (platform, "node")):
            _wrap(module, name, _observer.hostname_read)
        start = threading.Thread.start

        def starting(self: threading.Thread) -> None:
            _observer.note(_observer.begun, self, sys._getframe(1))
            start(self)

        threading.Thread.start = starting  # type: ignore[method-assign]


def _wrap(module: Any, name: str, noted: Callable[..., None]) -> None:
    """Have a function note what it is asked for, which no event tells of."""
    function = getattr(module, name)

    @functools.wraps(function)
    def asking(*arguments: Any, **named: Any) -> Any:
        _observer.note(noted, named.get("path", *arguments[:1]), sys._getframe(1))
        return function(*arguments, **named)

    setattr(module, name, asking)
    for capable in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
        if function in capable:
            capable.add(asking)


def observed(who: str) -> AbstractContextManager[None]:
    """Note what is read within this run, in a process that observes; elsewhere nothing is noted."""
    return _noted(who) if _observer.installed else under_way


@contextmanager
def _noted(who: str) -> Iterator[None]:
    _observer.begin(who)
    try:
        with under_way:
            yield
    finally:
        _observer.end()


def take_reads() -> dict[str, Reads]:
    """Return what was noted since this was last called, by whom it was read."""
    reads, _observer.reads = _observer.reads, {}
    return reads
