"""What code of the user's reads in addition to itself while it runs: files, listings of folders, variables of the
environment.

Python tells of these by audit events (PEP 578). The hook for them is installed in a process before it executes the
user's code for the first time. It can never be taken back, and notes nothing outside of a run. No event tells that
somebody asks what a file is (`exists`, `Path.stat`) or for the working folder: these functions of `os` are wrapped.
Nothing tells what native readers such as Arrow's open. That they read is seen (`native_reads.py`), and their files are
declared (`inputs = ["scale.txt"]`).
"""

from __future__ import annotations

import functools
import linecache
import os
import platform
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any
from weakref import WeakSet

from workbench.identity.native_reads import OPENING_OF_C, NativeReads
from workbench.identity.owner import installed_folders, of_guest, owner_of
from workbench.identity.reads import IS, Reads, digest_of_file, digest_of_variable, what_is
from workbench.identity.snapshot import under_way

MOST = 1000
"""How many files and variables of one piece of code are remembered; beyond, no digest stands for what it reads."""

OPENING = "opening "
"""How the name begins under which something is opened once a process."""

IMPORTING = f"{OPENING}module "
"""How the name begins under which a module of the user's is imported."""

NO_INPUTS = "declares no `inputs`"
"""How acts end that declared inputs stand for."""

NATIVE = f"reads a file past Python, as Arrow's readers do, and {NO_INPUTS}"

_ACTS = {
    **dict.fromkeys(("os.fork", "os.forkpty"), "starts another process"),
    **dict.fromkeys(("socket.connect", "socket.getaddrinfo", "urllib.Request"), "asks another machine"),
    "socket.gethostname": "asks for the name of the machine",
    **dict.fromkeys(("os.getxattr", "os.listxattr"), "reads attributes of a file that are no part of its content"),
}
_OF_THE_SYSTEM = ("/dev/", "/proc/", "/sys/")
_LINKS = ("/proc/self/", "/proc/thread-self/", "/dev/fd/")
"""Where the system links to files that the process has open, and to its working folder."""
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
        self.native: NativeReads | None = None
        """In a process that does nothing but runs, what tells that native code reads files."""
        self._temporary: str | None = None
        self.open = threading.local()
        self.threads: WeakSet[Any] = WeakSet()
        """The threads that code of the user's started: what they read, whatever is on their stacks, it reads."""
        self.reads: dict[str, Reads] = {}
        """By whom: what each read."""
        self._who = self._outermost = ""
        self._pieces = 0
        """How many pieces of code are observed: those of several threads share what they read."""
        self._lock = threading.Lock()
        self._files: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._acts: dict[str, None] = {}
        self._folder = ""
        self._written: set[str] = set()
        self._imports: dict[str, tuple[str, str]] = {}
        """By the files of modules that code which was observed imported first: whose that was, and the digest then."""
        self._lines: set[str] = set()
        """The files whose lines Python keeps for the user's code."""
        programs = "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"
        self._notes: dict[str, Callable[[tuple[Any, ...], FrameType], None]] = {
            "ctypes.dlopen": self.loaded,
            "ctypes.dlsym": self.function,
            "import": self.imported,
            "open": self.opened,
            "os.listdir": self.listed,
            "os.mkdir": self.made,
            "os.scandir": self.scanned,
            "sqlite3.connect": self.connected,
            **dict.fromkeys(programs, self.started),
        }
        """By the events that are noted: what notes each."""

    def begin(self, who: str) -> str:
        """Begin to note under a name; returns the one under which was noted before."""
        with self._lock:
            self._pieces += 1
            before = self._who
            if self._pieces == 1:
                self._files, self._variables, self._acts, self._folder, self._written = {}, {}, {}, "", set()
                self._outermost = who
                self._let_read_again(who)
                self._temporary, tempfile.tempdir = tempfile.tempdir, None  # looked for once a process, read by each
                if self.native is not None:
                    self.native.begin()
            self._who = who
            return before

    def end(self, who: str, before: str) -> None:
        """End what `begin` began, which returned `before`."""
        with self._lock:
            self._pieces -= 1
            if not self._pieces:
                tempfile.tempdir = self._temporary
                if self.native is not None and self.native.found():
                    self._acts[NATIVE] = None
            reads = Reads(dict(self._files), dict(self._variables), tuple(self._acts), self._folder)
            self._who = before or who if self._pieces else ""
        if any(reads):
            self.reads[who] = self.reads.get(who, Reads()) | reads

    def _let_read_again(self, who: str) -> None:
        """Have what Python keeps of files read again: modules that others imported, and lines for the user's code."""
        if not who.startswith(IMPORTING):
            self._forget_imports(who)
        for place in self._lines:
            linecache.cache.pop(place, None)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event; whatever goes wrong here must not show in the run."""
        if self.native is not None and self._who:
            if event in ("open", "sqlite3.connect"):
                self._account_for(self.native, arguments[0])
            elif (event == "ctypes.dlopen" and arguments[0]) or (event == "import" and arguments[1]):
                self.native.loaded()
        if event in self._notes or event in _ACTS:
            self.note(self._heard, event, arguments, sys._getframe(1))

    def _account_for(self, native: NativeReads, path: Any) -> None:
        """Note a file that Python opens, for whatever reason, such as for its digest."""
        busy, self.open.busy = getattr(self.open, "busy", False), True
        native.opened(path)
        self.open.busy = busy

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
        path, mode, flags = arguments
        if isinstance(path, int):
            return
        place = self._place(path)
        if mode is None and not os.path.isabs(os.fsdecode(path)) and not os.path.lexists(place):
            self._acts["names a file from the descriptor of a folder"] = None
        if _imports(frame):
            self._module(source_from_cache(place) if place.endswith(".pyc") else place)
        elif isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
            if place not in self._files:
                self._written.add(place)
        else:
            self.file(place)
            if _room(frame) in _OF_LINES and place in self._files:
                self._lines.add(place)

    def made(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        self._written.add(os.path.abspath(os.fsdecode(arguments[0])))

    def imported(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        if arguments[1]:  # a module of machine code, of which nothing else is in a digest
            self._module(os.path.abspath(arguments[1]))

    def _module(self, place: str) -> None:
        if self._outermost.startswith(IMPORTING):
            return  # what a module imports as it is imported is part of the digest of code
        self.file(place)
        if place in self._files:
            self._imports[place] = self._outermost, self._files[place]

    def _forget_imports(self, who: str) -> None:
        """Have what others imported, or what has changed since, imported again, so that it is seen to be read.

        What the same code has imported before it does not read again; it counts as read.
        """
        old = {one for one, (by, then) in self._imports.items() if by != who or digest_of_file(one) != then}
        modules = list(sys.modules.items()) if old else []
        forgotten = [name for name, module in modules if getattr(module, "__dict__", {}).get("__file__") in old]
        for name, _ in modules:
            if any(name == one or name.startswith(f"{one}.") for one in forgotten):
                del sys.modules[name]
        self._imports = {one: known for one, known in self._imports.items() if one not in old}
        self._files |= {one: then for one, (_, then) in self._imports.items()}

    def loaded(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        if os.sep in (path := os.fsdecode(arguments[0] or "")):
            self.file(os.path.abspath(path))

    def listed(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        (path,) = arguments
        if not isinstance(path, int):
            self.file(self._place(path or "."))

    def scanned(self, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Note a listing, and what each entry is if the user's code itself asks: sizes make no event."""
        self.listed(arguments, frame)
        if not isinstance(arguments[0], int) and owner_of(frame.f_globals.get("__name__")) == "user":
            place = self._place(arguments[0] or ".")
            for name in os.listdir(place):
                self.file(os.path.join(place, name), what_is)

    def connected(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        if isinstance(arguments[0], (str, bytes, os.PathLike)) and os.fsdecode(arguments[0]) != ":memory:":
            self.file(self._place(arguments[0]))

    def connection(self, connection: sqlite3.Connection, frame: FrameType) -> None:
        """Note, of a database that the user's code is connected to, each other one that it attaches."""
        if _is_the_users(frame):
            connection.set_authorizer(self._attached)

    def _attached(self, action: int, name: str | None, *_: Any) -> int:
        if action == sqlite3.SQLITE_ATTACH and name:
            self.note(self.connected, (name,), sys._getframe(0))
        elif action == sqlite3.SQLITE_ATTACH:
            self._acts[f"attaches a database whose name is a parameter, and {NO_INPUTS}"] = None
        return sqlite3.SQLITE_OK

    def function(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        """Note a function of C by which code can open files past Python, or read the environment."""
        if arguments[1] in OPENING_OF_C:
            self._acts[NATIVE] = None
        elif arguments[1] in ("environ", "getenv", "secure_getenv"):
            self._acts["reads the environment past Python"] = None

    def _place(self, path: Any) -> str:
        """Return the whole path of a file, and note the working folder where it is named from there."""
        name = os.fsdecode(path)
        if name.startswith(_LINKS):
            name = os.path.realpath(name)
        if not os.path.isabs(name):
            self._folder = os.getcwd()
        return os.path.abspath(name)

    def file(self, place: str, digest: Callable[[str], str] = digest_of_file) -> None:
        if place.startswith("/proc/") and place.endswith("/environ"):
            self._acts["reads all variables of the environment at once"] = None
        if not self._files.get(place, IS).startswith(IS) or is_of_the_system(place):
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
            place = self._place(path)
            if place not in self._files:
                self.file(place, what_is)

    def folder_read(self, _: Any, frame: FrameType) -> None:
        """Note that somebody asks for the working folder, and does not only open a file that is named from it."""
        if _is_the_users(frame):
            self._folder = os.getcwd()

    def hostname_read(self, _: Any, frame: FrameType) -> None:
        """Note that somebody asks for the machine's name, and not `platform` for more than that."""
        if _room(frame) != "platform" and _is_the_users(frame):
            self._acts[_ACTS["socket.gethostname"]] = None

    def variable(self, name: str, frame: FrameType) -> None:
        if _reads_itself(frame):
            self._variables.setdefault(name, digest_of_variable(name))

    def started(self, arguments: tuple[Any, ...], _: FrameType) -> None:
        named = next((one for one in arguments if isinstance(one, (str, bytes, os.PathLike)) and one), "another")
        self._acts[f"starts the program {Path(os.fsdecode(named).split()[0]).name}"] = None

    def begun(self, thread: threading.Thread, frame: FrameType) -> None:
        """Note a thread, of which not every Python tells, if the user's code starts it."""
        if _is_the_users(frame):
            self.threads.add(thread)


_observer = _Observer()


def is_of_the_system(place: str) -> bool:
    """Return whether a file is the system's, Python's, of an installed package, or what Python keeps of a module.

    The files of a package that brings parts are none of these: they count as the user's.

    >>> is_of_the_system("/proc/stat"), is_of_the_system(os.__file__), is_of_the_system("/home/ada/weights.csv")
    (True, True, False)
    """
    own = f"{place}{os.sep}".startswith((_PACKAGE, *_OF_THE_SYSTEM)) or "__pycache__" in place
    inside = [Path(place).relative_to(one).parts for one in installed_folders() if Path(place).is_relative_to(one)]
    return own or (bool(inside) and not any(parts and of_guest(parts[0].partition(".")[0]) for parts in inside))


def _is_the_users(frame: FrameType | None) -> bool:
    """Return whether code of the user's is on the stack, below whatever library reads for it, or started the thread."""
    if (room := _room(frame)) in _BY_ITSELF:
        while _room(frame) in _OF_LINES:
            frame = frame.f_back if frame is not None else None
        return room in _OF_LINES and frame is not None and owner_of(frame.f_globals.get("__name__")) == "user"
    return next(_users(frame), None) is not None or threading.current_thread() in _observer.threads


def _users(frame: FrameType | None, of_imports: bool = False) -> Iterator[FrameType]:
    """Yield the frames of the user's code, from within outwards, until those of what runs it.

    What a library reads as it is imported, and where Python looks for it, is not the user's doing.
    """
    while frame is not None and not (name := str(frame.f_globals.get("__name__"))).startswith(_RUNS):
        if owner_of(name) == "user":
            yield frame
        if name.startswith(_OF_IMPORTS) and not of_imports:
            return
        frame = frame.f_back


_OF_IMPORTS = ("importlib._bootstrap", "_frozen_importlib", "workbench.parts")


def _imports(frame: FrameType | None) -> bool:
    """Return whether a file is opened as a function of the user's has a module imported."""
    return _room(frame) == "importlib" and any(one.f_code.co_name != "<module>" for one in _users(frame, True))


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


_of_the_system: Any = sys.modules.get(os.name, os)
"""The module that `os` takes its functions from."""


def observe(does_nothing_else: bool = False) -> None:
    """Install the hook in this process, for good.

    Parameters
    ----------
    does_nothing_else : bool
        Whether this process does runs alone, so that what native code reads shows too.
    """
    if does_nothing_else:
        time.localtime()  # the C library reads the time zone once
        _observer.native = NativeReads()
    if not _observer.installed:
        _observer.installed = True
        sys.addaudithook(_observer.hook)
        os.environ.__class__ = _Environ
        if os.supports_bytes_environ:
            os.environb.__class__ = _Environ
        for name in ("stat", "lstat", "access", "readlink"):
            _wrap(os, name, _observer.status_read)
            if hasattr(_of_the_system, name):
                setattr(_of_the_system, name, getattr(os, name))
        for name in ("getcwd", "getcwdb"):
            _wrap(os, name, _observer.folder_read)
        for module, name in ((os, "uname"), (platform, "node")):
            _wrap(module, name, _observer.hostname_read)
        start, connect = threading.Thread.start, sqlite3.connect

        def starting(self: threading.Thread) -> None:
            _observer.note(_observer.begun, self, sys._getframe(1))
            start(self)

        @functools.wraps(connect)
        def connecting(*arguments: Any, **named: Any) -> sqlite3.Connection:
            connection = connect(*arguments, **named)
            _observer.note(_observer.connection, connection, sys._getframe(1))
            return connection

        threading.Thread.start = starting  # type: ignore[method-assign]
        sqlite3.connect = sqlite3.dbapi2.connect = connecting  # type: ignore[assignment]


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


@contextmanager
def observed(who: str) -> Iterator[None]:
    """Note what is read within this by code of the user's, under a name."""
    observe()
    before = _observer.begin(who)
    try:
        yield
    finally:
        _observer.end(who, before)


@contextmanager
def observed_run(who: str) -> Iterator[None]:
    """Note what is read within this run by code of the user's, under a name."""
    with observed(who), under_way:
        yield


def observed_import(module: str) -> AbstractContextManager[None]:
    """Note what a module of the user's reads as it is imported, in place of what it read before."""
    _observer.reads.pop(IMPORTING + module, None)
    return observed(IMPORTING + module)


def read_by_import(module: str) -> Reads:
    """Return the reads of a module of the user's when it was imported last."""
    return _observer.reads.get(IMPORTING + module, Reads())


def reads_of(*names: str) -> Reads:
    """Return the reads under some names, of what has changed the state under the last one.

    It is what was read since `forget_reads` was last called, and what was read as something was opened.
    """
    each = (_observer.reads.get(part + name, Reads()) for name in names for part in (OPENING, ""))
    return functools.reduce(Reads.__or__, each)


def forget_reads() -> None:
    """Forget what was read until now, but for what was read as something was opened, which is not opened again."""
    _observer.reads = {who: reads for who, reads in _observer.reads.items() if who.startswith(OPENING)}
