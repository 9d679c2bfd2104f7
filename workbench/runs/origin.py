"""What this process computes with: sources, versions, machine. A driver and its workers must agree in them.

If they differed, paired runs would not be pairs.
"""

from __future__ import annotations

import datetime
import decimal
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.digests import canonical
from workbench.errors import WorkbenchError
from workbench.files import on_network
from workbench.process import FIXED, VARIABLE, has_fixed_hash_seed, hash_seed
from workbench.version import IMPORTED_NS

if TYPE_CHECKING:
    pass

_PACKAGES = ("gpu-policy-workbench", "numba", "llvmlite", "numpy", "scipy", "pandas", "optuna")

_PROCESSORS = Path("/proc/cpuinfo")


def environment() -> dict[str, Any]:
    """Return the versions of the packages that compute results, of Python, of the sources, and the kind of machine."""
    return {
        "python": platform.python_version(),
        "machine": ", ".join(part for part in (f"{platform.system()} {platform.machine()}", _processor()) if part),
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "sources": sources(),
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """Return the name that the processor gives itself, on which the code that Numba makes depends; empty where
    unknown."""
    try:
        lines = _PROCESSORS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    named = (line.partition(":")[2] for line in lines if line.startswith("model name"))
    return " ".join(next(named, "").split())


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


WHEN = "when"


@functools.cache
def own_origin() -> str:
    """Return the origin of every row that this process computes, as canonical JSON; fixed when it is first asked."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return canonical({**environment(), WHEN: now})


def origin_of_own_code() -> str:
    """Return the origin of rows of a user's code: with the hash seed, and what is set of decimals, NumPy and pandas.

    Such code may depend on these. What is set as it is when Python begins is left out.
    """
    return canonical({**json.loads(own_origin()), "hash_seed": hash_seed(), **_settings()})


def _settings() -> dict[str, dict[str, str]]:
    """Return the settings that differ from those with which Python begins, and can change a number."""
    now = decimal.getcontext()
    names = ("prec", "rounding", "Emin", "Emax", "clamp")
    decimals = {name: getattr(now, name) for name in names if getattr(now, name) != getattr(decimal.Context(), name)}
    settings = {"decimal": decimals, "numpy": _other(np.geterr(), _NUMPY), "pandas": _of_pandas()}
    return {name: {key: str(value) for key, value in some.items()} for name, some in settings.items() if some}


_NUMPY = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""What NumPy does of itself where a floating-point operation fails."""


def _other(now: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in now.items() if value != usual.get(name)}


def _of_pandas() -> dict[str, Any]:
    """Return the options of pandas that are not as pandas sets them, if it is loaded."""
    config = sys.modules.get("pandas._config.config")
    registered = getattr(config, "_registered_options", {})
    options = {name: one.defval for name, one in registered.items() if name.startswith(_COMPUTING)}
    with warnings.catch_warnings():  # pandas warns of options that it will drop
        warnings.simplefilter("ignore")
        return _other({name: sys.modules["pandas"].get_option(name) for name in options}, options)


_COMPUTING = ("compute.", "mode.", "future.")
"""How the names of those options of pandas begin that can change a number."""

_ROOT = Path(__file__).parent.parent

_COMPUTES = ("numba", "llvmlite", "numpy", "scipy")
"""The packages whose version may show in the bits of a result."""

LOOK_SECONDS = 0.2

_looked = float("-inf")
"""When this process last looked whether its sources are as they were."""


def sources() -> str:
    """Return a digest of every source and data file of this package, as this process imported them.

    Raises
    ------
    WorkbenchError
        One was edited between the import and the first call.
    """
    return _taken().digest


class _File(NamedTuple):
    name: str
    """The path as a text, which is looked at in half the time."""
    state: tuple[int, int, int]
    digest: bytes


class _Taken(NamedTuple):
    digest: str
    files: dict[Path, _File]


@functools.cache
def _taken() -> _Taken:
    whole, files = hashlib.blake2b(digest_size=8), {}
    for path in sorted(p for p in _ROOT.rglob("*") if p.suffix in (".py", ".yaml")):
        state, content = _state(name := str(path)), path.read_bytes()
        _refuse_later(path, state)
        files[path] = _File(name, state, _digest_of_files(content))
        whole.update(str(path.relative_to(_ROOT)).encode() + b"\0" + content + b"\0")
    return _Taken(whole.hexdigest(), files)


def _state(path: str) -> tuple[int, int, int]:
    try:
        now = os.stat(path)
    except OSError:
        return 0, 0, 0
    return now.st_mtime_ns, now.st_size, now.st_ino


def _digest_of_files(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _refuse_later(path: Path, state: tuple[int, int, int]) -> None:
    """Refuse a file that was edited after the import; times of another clock tell nothing."""
    if IMPORTED_NS < state[0] <= time.time_ns() and not on_network(_ROOT):
        raise _edited(path)


def _edited(path: Path) -> WorkbenchError:
    return WorkbenchError(
        f"{path.relative_to(_ROOT.parent)} was edited after this process imported the workbench; restart the process "
        "(in a notebook, the kernel), so that all of it computes with the same sources."
    )


class Origin(NamedTuple):
    """What determines the bits of a run in addition to its setup and its seed."""

    sources: str
    versions: dict[str, str]
    """Python (major and minor) and the packages that compute."""


def check_unedited() -> None:
    """Refuse to go on in a process that imported other sources of this package than there are now.

    It would compute some things with the old ones. Packages are imported when they are first needed, so it would
    compute others with the new ones. It looks at times and sizes (2 ms), at most five times a second.

    Raises
    ------
    WorkbenchError
        A file was edited since; the sentence names it.
    """
    global _looked
    files = _taken().files
    if time.monotonic() - _looked < LOOK_SECONDS:
        return
    for path, file in files.items():
        if _state(file.name) != file.state and not (
            path.is_file() and _digest_of_files(path.read_bytes()) == file.digest
        ):
            raise _edited(path)
    _looked = time.monotonic()


@functools.cache
def origin() -> Origin:
    """Return the versions with which this process computes."""
    python = ".".join(platform.python_version_tuple()[:2])
    return Origin(sources(), {"Python": python, **{name: importlib.metadata.version(name) for name in _COMPUTES}})


def differences(worker: Origin, driver: Origin) -> str:
    """Return the differences of a worker from the driver, as part of a sentence; empty where they agree.

    >>> mine = Origin("8c", {"Python": "3.11", "numba": "0.68.1"})
    >>> differences(Origin("8c", {"Python": "3.11", "numba": "0.67.0"}), mine)
    'numba 0.67.0 (the driver: 0.68.1)'
    >>> differences(Origin("9d", {"Python": "3.12", "numba": "0.68.1"}), mine)
    'Python 3.12 (the driver: 3.11) and other sources of the workbench, 9d (the driver: 8c)'
    """
    differing = [
        f"{name} {worker.versions.get(name)} (the driver: {version})"
        for name, version in driver.versions.items()
        if worker.versions.get(name) != version
    ]
    if worker.sources != driver.sources:
        differing.append(f"other sources of the workbench, {worker.sources} (the driver: {driver.sources})")
    return " and ".join(differing)


def check_origin(driver: Origin) -> None:
    """Refuse to work for a driver that computes with something else.

    Raises
    ------
    WorkbenchError
        They differ; the sentence names every difference.
    """
    if difference := differences(origin(), driver):
        raise WorkbenchError(
            f"a worker has {difference}; install the same versions everywhere, or start again if sources were edited "
            "while this ran."
        )


def check_hash_seed() -> None:
    """Refuse to execute a user's code in a worker that orders sets of texts in its own way.

    Raises
    ------
    WorkbenchError
        It does: it is a worker of a cluster or an executor that somebody else started.
    """
    if not has_fixed_hash_seed():
        raise WorkbenchError(
            f"a worker has the hash seed {hash_seed()!r}, by which code of your own that goes through a set of texts "
            f"may give other numbers than elsewhere; start the workers with {VARIABLE}={FIXED} in their environment."
        )
