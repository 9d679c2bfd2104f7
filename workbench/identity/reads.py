"""What code of the user's read, each thing with a digest of what it held, and whether it still holds it.

Files, listings of folders, variables of the environment and the working folder have digests. What the code did that no
digest can stand for is kept as part of a sentence.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, NamedTuple

from workbench.digests import canonical
from workbench.identity.snapshot import current

ABSENT = ""
"""The digest of a file or a variable that is not there."""

IS = "is "
"""How the state of a file begins that was only asked for."""


class Reads(NamedTuple):
    """What some code read, each with a digest of what it held then, and what it did that no digest can stand for."""

    files: Mapping[str, str] = {}
    """By the absolute path: the digest of the content, of a folder that of the names in it; of what was only asked for,
    what it is (`is a file of 12 bytes`)."""
    variables: Mapping[str, str] = {}
    acts: tuple[str, ...] = ()
    """Parts of sentences: `starts the program git`."""
    folder: str = ""
    """The working folder, if the code asked for it or named a file from it; as a results folder keeps it, a digest."""

    def __or__(self, other: Reads) -> Reads:
        acts = dict.fromkeys((*self.acts, *other.acts))
        files = {**self.files, **other.files}
        for path, digest in self.files.items():
            if files[path].startswith(IS) and not digest.startswith(IS):
                files[path] = digest  # its content says more than what it is
        return Reads(files, {**self.variables, **other.variables}, tuple(acts), other.folder or self.folder)

    def within(self, other: Reads) -> bool:
        """Return whether all that was read here was read there too, and held the same.

        >>> Reads({"a.csv": "8c"}).within(Reads({"a.csv": "8c", "b.csv": "9d"}))
        True
        >>> Reads({"a.csv": "8c"}).within(Reads({"a.csv": "9d"}))
        False
        """
        same = self.files.items() <= other.files.items() and self.variables.items() <= other.variables.items()
        return same and self.folder in ("", other.folder)

    def changed(
        self, state: Callable[[str, bool], str] | None = None, name: Callable[[str], str] = os.path.normpath
    ) -> str:
        """Return the change since it was read, as a part of a sentence; empty where there is none.

        Parameters
        ----------
        state : callable, optional
            What gives the state of a file now (`state_of`), such as one that remembers it for a moment.
        name : callable
            What gives the name of a path in the sentence.

        >>> Reads(variables={"NO_SUCH_VARIABLE": ABSENT}).changed()
        ''
        >>> Reads(files={"/no/such/file": "8c"}).changed()
        'the file /no/such/file'
        """
        state = state or state_of
        for path, digest in self.files.items():
            if state(path, digest.startswith(IS)) != digest:
                return f"the file {name(path)}"
        for variable, digest in self.variables.items():
            if digest_of_variable(variable) != digest:
                return f"the variable {variable} of the environment"
        return ""

    def text(self) -> str:
        """Return it as one text.

        >>> Reads.read(Reads({"a.csv": "8c"}, acts=("starts the program git",)).text()).acts
        ('starts the program git',)
        """
        return canonical({name: value for name, value in self._asdict().items() if value})

    @staticmethod
    def read(text: str) -> Reads:
        """Return the content of a text of `text`."""
        return Reads(**{**(facts := json.loads(text)), "acts": tuple(facts.get("acts", ()))})


def state_of(path: str, is_status: bool) -> str:
    """Return the digest of what a file holds now, or what it is (`is a file of 12 bytes`) if that alone was asked."""
    return what_is(path) if is_status else digest_of_file(path)


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


def what_is(path: str) -> str:
    """Return whether there is a file or a folder, where a link leads, and of how many bytes a file is."""
    try:
        if os.path.islink(path):
            return f"{IS}a link to {os.readlink(path)}"
        state = os.stat(path)
    except (OSError, ValueError):
        return f"{IS}absent"
    if not stat.S_ISREG(state.st_mode):
        return f"{IS}a folder" if stat.S_ISDIR(state.st_mode) else f"{IS}neither file nor folder"
    return f"{IS}a file of {state.st_size} bytes"


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


def digest_of_variable(name: str) -> str:
    """Return 32 hexadecimal digits for what a variable of the environment holds; `ABSENT` where there is none."""
    value = os.environ.get(name)
    return ABSENT if value is None else hashlib.blake2b(value.encode(errors="replace"), digest_size=16).hexdigest()


def declared_reads(things: Iterable[Any]) -> Reads:
    """Return the files that classes and functions of the user's declare as `inputs`, and those of modules of machine
    code that they refer to.

    A relative path is looked for in the folder of the file that the code is written in, then where the command runs.
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
