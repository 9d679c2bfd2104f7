"""Text that a digest is computed from, and the guards that are noted while it is written."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from workbench.errors import InputError
from workbench.identity.guards import Guards, note_content
from workbench.identity.owner import owner_of, package_of
from workbench.identity.refusal import refused


class Transcript:
    """What is written down of some things, one token after the other; `CodeHasher` writes down code.

    What the user's code refers to is noted in `guards`. The workbench's own is digested by `sub` where it is not the
    root (`parts`); what it refers to is noted in `package`.
    """

    def __init__(self, sub: Callable[[Any], str] | None, root: Any = None) -> None:
        self.guards = Guards()
        self.lenient = sub is None or owner_of(getattr(root, "__module__", None)) == "workbench"
        """Whether what has no digest counts by its kind alone, as decoders of files do: among the workbench's own."""
        self.package = Guards()
        self.parts: list[tuple[Any, str]] = []
        """What was digested by `sub`, each with its digest."""
        self.tokens: list[str] = []
        self.compiled: list[Any] = []
        """The user's compiled functions."""
        self.functions: list[FunctionType] = []
        """The user's functions."""
        self.caches: list[Any] = []
        """The user's functions that keep what they returned."""
        self.memos: list[dict[Any, Any]] = []
        """The user's dictionaries that a name stands for and that are empty."""
        self.modules: dict[str, set[str]] = {}
        """Of each of the user's modules that something was taken from, the attributes that were read from it."""
        self.installed: set[str] = set()
        """The installed packages that something was taken from."""
        self.within_installed = 0
        """How many objects of installed packages are open now: what these draw from shows when runs are repeated."""
        self.digest_part, self.root = sub, root
        self.is_user_code = not self.lenient
        self.path: list[str] = []
        self.current: Any = None
        self.open_values: dict[int, int] = {}

    def digest(self, *things: Any) -> str:
        """Write some things down and return 32 hexadecimal digits of BLAKE2b."""
        raise NotImplementedError

    def value(self, value: Any) -> None:
        """Write a value down, or what a function or a class is made of."""
        raise NotImplementedError

    def put(self, kind: str, text: str = "") -> None:
        """Write one thing down; with its length, so that no two texts can be read as one another."""
        self.tokens.append(f"{kind}{len(text)}:{text}")

    def inside(self, name: str, visit: Callable[..., Any], *arguments: Any) -> None:
        """Call something; refusals then say that they were met under a name."""
        self.path.append(name)
        visit(*arguments)
        self.path.pop()

    @property
    def location(self) -> str:
        """Return the place that is visited now, in words: `MyFit.answer: AIM`."""
        return ": ".join(self.path)

    def refuse(self, value: Any, what: str = "", cure: str = "") -> InputError:
        """Return the sentence that refuses a value which no digest can stand for."""
        return refused(self.path, value, what, cure, self.current)

    @property
    def notes(self) -> Guards:
        """Return the list in which visits are noted now."""
        return self.guards if self.is_user_code else self.package

    @contextlib.contextmanager
    def once(self, value: Any) -> Iterator[bool]:
        """Hold a value open within this context; yield False where it was already, so that it holds itself."""
        if id(value) in self.open_values:
            self.put("itself", str(len(self.open_values) - self.open_values[id(value)]))
            yield False
            return
        self.open_values[id(value)] = len(self.open_values)
        try:
            yield True
        finally:
            del self.open_values[id(value)]

    def changed_by(self, again: Callable[[], Any], digest: Any, value: Any) -> None:
        """Note a value that holds no others, by what gives its digest."""
        if not self.open_values and self.is_user_code:
            self.guards.value(again, digest, self.location)
        else:
            self.note(value)

    def changeable(self, value: Any, write: Callable[[Transcript, Any], None]) -> None:
        """Write down a value that can change while it stays the same object, and note it."""
        outermost = not self.open_values
        with self.once(value) as first:
            if first:
                write(self, value)
        if outermost and self.is_user_code:
            again = functools.partial(_digest_of_value, self._other(), write, value)
            self.guards.value(again, again(), self.location)
        else:
            self.note(value)

    def note(self, value: Any) -> None:
        """Note what a value of the workbench's own holds."""
        if self.lenient and not self.is_user_code:
            note_content(self.package, value, self.location)

    def alone(self, value: Any) -> str:
        """Return the digest of a value by itself, wherever it stands."""
        other = self._other()()
        result = other.digest(value)
        self.package.include(other.package)
        self.parts += other.parts
        self.installed |= other.installed
        return result

    def _other(self) -> Callable[[], Transcript]:
        """Return the beginning of another transcript, which does not hold this one."""
        return functools.partial(type(self), self.digest_part, self.root)

    def named(self, module: str, name: str) -> None:
        """Write down something of an installed package by its name."""
        self.installed.add(module.partition(".")[0])
        self.put("installed", f"{package_of(module)}/{module}.{name}")


def _digest_of_value(begin: Callable[[], Transcript], write: Callable[[Transcript, Any], None], value: Any) -> str:
    transcript = begin()
    with transcript.once(value):
        write(transcript, value)
    return transcript.digest()
