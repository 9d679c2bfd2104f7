"""Where compiled code is kept on disk: one folder a module, named after a digest of all sources that can be in it.

Numba notices an edit of the file that holds a function, not of a file that the function calls. So the folder of a
module is named after a digest of the module and of all that it imports, directly or not: whatever a compiled function
takes in, it takes by a name that its module has from there. An edit of a measure compiles no engine, one in the
pool's engine compiles the pool and the node, and an engine never runs yesterday's code.

Numba's own locators name the folder after the absolute path of the source, so that a second clone with equal sources
would compile everything again.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba.core import types
from numba.core.caching import IndexDataCacheFile, UserProvidedCacheLocator

from workbench.files import cache_home

ROOMS = ("compiled", "structures", "policies", "engines", "metrics")
"""The rooms of this package that may hold compiled code."""

SOURCES = (*ROOMS, "records")
"""The rooms that compiled code takes names from: `records` has the constants of columns. A test compares."""

_IMPORT = re.compile(rb"^[ \t]*from[ \t]+workbench\.([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_KERNEL = re.compile(rb"^@(kernel|inlined|routine|noinline|entry_point|allocating)\b", re.MULTILINE)
_COMMENT = re.compile(rb"#[^\n]*")
_NAME = re.compile(rb"(\w+)(?:[ \t\n]+as[ \t\n]+\w+)?")


def may_be_kept(module: str) -> bool:
    """Return whether a module's compiled functions may be kept on disk: those of this package; a user's are compiled
    anew.

    >>> may_be_kept("workbench.structures.bitmaps"), may_be_kept("__main__")
    (True, False)

    Raises
    ------
    RuntimeError
        A room of this package holds compiled code without being part of the digests.
    """
    package, _, rest = module.partition(".")
    if package == "workbench" and rest.split(".")[0] not in ROOMS:
        raise RuntimeError(
            f"{module} compiles code, but its room is not part of the digests (compiled/cache.py, ROOMS)."
        )
    return package == "workbench"


class Sources:
    """The Python sources of a package that compiled code can come from, each read once, when it is first asked for.

    Parameters
    ----------
    root : Path
        The folder of the package.

    Examples
    --------
    >>> from pathlib import Path
    >>> import workbench
    >>> sources = Sources(Path(workbench.__file__).parent)
    >>> "structures.bitmaps" in sources.closure("engines.shared_memory_loop")
    True
    >>> [module for module in sources.closure("engines.shared_memory_loop") if module.startswith("metrics")]
    []
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[str, _Source | None] = {}
        self._closures: dict[str, frozenset[str]] = {}

    def closure(self, module: str) -> frozenset[str]:
        """Return a module and all that it imports of the rooms in `SOURCES`, by their names below the package."""
        if module not in self._closures:
            members, left = {module}, [module]
            while left:
                source = self._source(left.pop())
                new = set(self._modules(source)) - members if source else set()
                members |= new
                left += new
            self._closures[module] = frozenset(members)
        return self._closures[module]

    def digest(self, *modules: str) -> str:
        """Compute a digest of the sources of modules and of all that they import, names and contents."""
        digest = hashlib.blake2b(digest_size=8)
        for module in sorted(frozenset().union(*map(self.closure, modules))):
            source = self._source(module)
            digest.update(module.encode() + b"\0" + (source.digest if source else b""))
        return digest.hexdigest()

    def kernels(self, part: str) -> list[str]:
        """Return the modules that hold compiled functions, of a part such as `engines.pool` or `engines.shared_memory`.

        They bring along all that is compiled into it; the others of the part prepare runs and read them.
        """
        room, _, name = part.rpartition(".")
        folder = self._root.joinpath(*room.split("."))
        files = [*folder.glob(f"{name}/**/*.py"), *folder.glob(f"{name}_*.py"), *folder.glob(f"{name}.py")]
        modules = (".".join(file.relative_to(self._root).with_suffix("").parts) for file in files)
        return [module for module in sorted(modules) if (source := self._source(module)) and source.compiles]

    def _modules(self, source: _Source) -> Iterator[str]:
        """Yield the modules that a source imports from; of a package, its `__init__`."""
        for package, name in source.imported:
            part, whole = f"{package}.{name}", self._source(package)
            is_module = self._source(part) is not None
            if is_module:
                yield part
            # A package may have a function by the name of one of its modules.
            if not is_module or (whole and any(name == exported for _, exported in whole.imported)):
                yield package

    def _source(self, module: str) -> _Source | None:
        """Return what a module's source is, None where there is no such module."""
        if module not in self._known:
            path = self._root.joinpath(*module.split("."))
            files = (path.with_name(f"{path.name}.py"), path / "__init__.py")
            self._known[module] = next((_read(file) for file in files if file.is_file()), None)
        return self._known[module]


class _Source(NamedTuple):
    """What one file says."""

    digest: bytes
    imported: tuple[tuple[str, str], ...]
    """Each name that it imports from a room in `SOURCES`, behind the module or package that is to have it."""
    compiles: bool
    """Whether it holds compiled functions."""


def _read(file: Path) -> _Source:
    content = file.read_bytes()
    imported = (
        (package.decode(), name.decode())
        for package, names in _IMPORT.findall(content)
        if package.split(b".")[0].decode() in SOURCES
        for name in _NAME.findall(_COMMENT.sub(b"", names))
    )
    return _Source(hashlib.blake2b(content, digest_size=16).digest(), tuple(imported), bool(_KERNEL.search(content)))


@functools.cache
def sources() -> Sources:
    """Return the sources of this package, as they were when this process first asked for each."""
    return Sources(Path(__file__).parent.parent)


def code_home() -> Path:
    """Return the folder below which all compiled code is kept, in the user's cache; another one where every index is
    checked (`NUMBA_BOUNDSCHECK=1`), which Numba's own index does not tell apart."""
    return cache_home() / ("code" if os.environ.get("NUMBA_BOUNDSCHECK", "") in ("", "0") else "code_with_bounds")


def cache_folder(module: str) -> Path:
    """Return the folder of a module's compiled functions, for these versions of all sources that can be in them."""
    short = module.removeprefix("workbench.")
    return code_home() / short / sources().digest(short)


def is_current(folder: Path) -> bool:
    """Return whether a folder below `code_home` is of a module's sources as they are now."""
    return folder == cache_folder(folder.parent.name)


_config: Any = numba.config


class PackageCacheLocator(UserProvidedCacheLocator):
    """Puts a function into the folder that Numba's setting names while it is defined, wherever the clone lies.

    The index holds a digest of the file's contents beside it, as with Numba's own locators.
    """

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._cache_path = _config.CACHE_DIR


LOCATOR = f"{__name__}.{PackageCacheLocator.__name__}"
"""The locator by name, as Numba's setting takes it."""


class KeptIndex(IndexDataCacheFile):
    """The index of a function's compiled forms; empty where it names a class that has moved to another module since,
    which would raise in whoever loads it. A form that takes a class of a user's or a test's is not kept: to load the
    index, other processes would import its module."""

    def save(self, key: Any, data: Any) -> None:
        if all(cls.__module__.startswith("workbench.") for cls in _classes(key)):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        try:
            kept: dict[Any, str] = super()._load_index()
        except (ImportError, AttributeError):
            return {}
        return kept


def _classes(signature: Any) -> Iterator[type]:
    """Yield the class of every named tuple in a signature, those inside of others included."""
    named: Any = types.BaseNamedTuple
    tuples: Any = (tuple, types.BaseTuple)
    if isinstance(signature, named):
        yield signature.instance_class
    if isinstance(signature, tuples):
        for inner in signature:
            yield from _classes(inner)
