"""Who wrote a module, a function or a class: the workbench, the author of an installed package, or the user."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import site
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Literal

from workbench.guests import is_guest

Owner = Literal["user", "workbench", "machinery", "installed"]

MACHINERY = ("compiled", "errors", "identity", "levers", "policies.policy")
"""The packages that read, check, compile and call: no part of any one policy. An engine's `revision` stands for it."""

_MAKERS = ("abc", "dataclasses", "enum", "types", "typing")
"""Modules of Python's that make classes which say that they are theirs."""
_WALKED = "compiled.bits"
_DEPENDENCIES = ("llvmlite", "msgspec", "numba", "numpy", "optuna", "pandas", "scipy", "yaml")
"""What the workbench itself stands on: its versions are named by the origin of every row, so by no id."""


def owner_of(module: str | None) -> Owner:
    """Return the author of a module; without a known author it is the user's.

    >>> owner_of("math"), owner_of("numpy.linalg"), owner_of("workbench.levers.spec"), owner_of("__main__")
    ('installed', 'installed', 'machinery', 'user')
    """
    if not module:
        return "user"
    if module.startswith("namedtuple_"):  # what Python writes for a named tuple says no more than its fields
        return "machinery"
    top, _, within = module.partition(".")
    if top == "workbench":
        return "machinery" if within != _WALKED and _is_within(within, MACHINERY) else "workbench"
    return "installed" if is_installed(module) else "user"


def module_of_class(cls: type) -> str:
    """Return the module that a class says it is of; that of a Cython function's says so of its objects alone.

    >>> module_of_class(dict)
    'builtins'
    """
    return cls.__module__ if isinstance(cls.__module__, str) else "builtins"


def owner_of_function(function: FunctionType) -> Owner:
    """Return the author of a function; `functools.wraps` names it as of another module, so where it looks up names
    counts.

    >>> import functools
    >>> owner_of_function(functools.wraps), owner_of_function(owner_of)
    ('installed', 'machinery')
    """
    home = function.__globals__.get("__name__")
    owner = owner_of(function.__module__ or home)
    return owner if owner == "user" or home is None else "user" if owner_of(home) == "user" else owner


def owner_of_class(cls: type) -> Owner:
    """Return the author of a class; one that is made by a function of Python's is named as of that function's module.

    >>> import fractions, types
    >>> owner_of_class(types.new_class("Aim")), owner_of_class(fractions.Fraction)
    ('user', 'installed')
    """
    owner = owner_of(module_of_class(cls))
    if owner == "user" or (owner == "installed" and _is_of_its_module(cls)):
        return owner
    functions = [part for part in vars(cls).values() if isinstance(part, FunctionType)]
    made = owner == "installed" and cls.__module__ in _MAKERS
    return "user" if made or any(owner_of_function(part) == "user" for part in functions) else owner


def _is_of_its_module(cls: type) -> bool:
    member: Any = sys.modules.get(module_of_class(cls))
    for name in cls.__qualname__.split("."):
        member = getattr(member, name, None)
    return member is cls


def label(module: str | None, name: str) -> str:
    """Return a name that a digest has for something: with its module, unless that is one of the workbench's own
    packages, which move.

    >>> label("workbench.levers.lever", "lever"), label("math", "sin")
    ('lever', 'math.sin')
    """
    return name if str(module).partition(".")[0] == "workbench" else f"{module}.{name}"


def is_installed(module: str) -> bool:
    """Return whether a module belongs to Python or to an installed package."""
    if module in ("__main__", "__mp_main__"):
        return False
    if module in sys.builtin_module_names:
        return True
    loaded = sys.modules.get(module)
    if loaded is None:
        top = sys.modules.get(module.partition(".")[0])
        return top is not None and top is not loaded and "." in module and is_installed(module.partition(".")[0])
    return _lies_installed(_place_of(loaded)) and not of_guest(module)


def of_guest(module: str) -> bool:
    """Return True if a module is of an installed package that brings parts, whose code counts as the user's."""
    top = module.partition(".")[0]
    return top not in _DEPENDENCIES and top not in sys.stdlib_module_names and is_guest(top)


def will_be_installed(module: str) -> bool:
    """Return whether a module, which need not be imported yet, belongs to Python or to an installed package.

    >>> will_be_installed("scipy.stats"), will_be_installed("no_such_module")
    (True, False)
    """
    top = module.partition(".")[0]
    if top in _DEPENDENCIES or top in sys.stdlib_module_names:
        return True
    if module in sys.modules:
        return is_installed(module)
    spec = importlib.util.find_spec(top)
    if spec is None:
        return False
    place = str(spec.origin or next(iter(spec.submodule_search_locations or ()), ""))
    return _lies_installed(place) and not is_guest(top)


def package_of(module: str) -> str:
    """Return the name of an installed package in an id: with its version, unless the workbench needs the package too.

    >>> package_of("numpy.linalg"), package_of("math")
    ('numpy', 'math')
    """
    top = module.partition(".")[0]
    if top in _DEPENDENCIES or top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return top
    return f"{top} {_version(top)}"


def _is_within(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def _place_of(module: ModuleType) -> str:
    """Return the path of a module; `frozen` where it is part of Python itself, empty where it has none."""
    place = getattr(module, "__file__", None)
    if place is None:
        paths = list(getattr(module, "__path__", ()))
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        return str(paths[0]) if paths else origin if origin in ("built-in", "frozen") else ""
    return str(place)


@functools.lru_cache(4096)
def _lies_installed(place: str) -> bool:
    if place in ("built-in", "frozen"):
        return True
    return bool(place) and any(Path(os.path.abspath(place)).is_relative_to(folder) for folder in installed_folders())


@functools.cache
def installed_folders() -> tuple[Path, ...]:
    """Return the folders of the standard library and of installed packages.

    Packages may lie outside of Python's own folders, by `PYTHONPATH` or a `.pth` file. Such a folder is installed if it
    is called `site-packages` or `dist-packages`, or if NumPy or Numba lies in it.
    """
    paths = sysconfig.get_paths()
    named = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    more = [*site.getsitepackages(), site.getusersitepackages(), os.path.dirname(os.__file__)]
    more += [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    specs = (importlib.util.find_spec(name) for name in ("numpy", "numba"))
    more += [os.path.dirname(os.path.dirname(spec.origin)) for spec in specs if spec is not None and spec.origin]
    return tuple(Path(os.path.abspath(path)) for path in dict.fromkeys([*named, *more]))


@functools.cache
def _version(top: str) -> str:
    """Return the version of an installed package, with a digest where its files may change and the version stays."""
    distribution = _distribution(top)
    version = getattr(sys.modules.get(top), "__version__", None)
    if not isinstance(version, str):
        version = "unknown" if distribution is None else distribution.version
    return f"{version}{_origin(top, distribution)}"


def _distribution(top: str) -> importlib.metadata.Distribution | None:
    try:
        return importlib.metadata.distribution(top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, [])
        return importlib.metadata.distribution(names[0]) if names else None


def _origin(top: str, distribution: importlib.metadata.Distribution | None) -> str:
    """Return a digest of where a package was installed from (PEP 610); empty for one from an index.

    It is of the package's files if it was installed from a folder, or if nothing tells. It is of the archive or the
    commit if it came from an address. A package from an index changes with its version alone.
    """
    text = None if distribution is None else distribution.read_text("direct_url.json")
    if distribution is not None and text is None:
        return ""
    origin = json.loads(text or "{}")
    known = origin.get("archive_info") or origin.get("vcs_info")
    content = hashlib.blake2b(json.dumps(known, sort_keys=True).encode() if known else b"", digest_size=8)
    for name, path in () if known else _files_of(top):
        content.update(f"{name} {path.stat().st_size} ".encode() + path.read_bytes())
    return f" {content.hexdigest()}"


def _files_of(top: str) -> list[tuple[str, Path]]:
    """Return the files of a package's code by their names within it, in order."""
    spec = getattr(sys.modules.get(top), "__spec__", None) or importlib.util.find_spec(top)
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    if spec and spec.origin and not folders:
        return [("", Path(spec.origin))]
    code = (".py", *EXTENSION_SUFFIXES)
    files = ((folder, path) for folder in folders for path in folder.rglob("*") if path.name.endswith(code))
    return sorted((path.relative_to(folder).as_posix(), path) for folder, path in files)
