"""Facts of this machine: versions, the compile cache, free memory and free disk."""

from __future__ import annotations

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from workbench.version import __version__

PACKAGES = ("numpy", "numba", "scipy", "pandas", "optuna", "matplotlib")
_CGROUP = Path("/sys/fs/cgroup")


class CompileCache(NamedTuple):
    """Where compiled engines are kept, and what is there."""

    folder: str
    """Below which all of it lies."""
    functions: int
    """Compiled functions kept for the sources as they are now."""
    bytes: int
    """Of these."""
    earlier: list[str]
    """Folders of other states of the sources, which may be deleted."""
    earlier_bytes: int
    writable: bool
    """Whether compiled code can be kept at all."""

    @property
    def state(self) -> str:
        """Return the meaning of the cache for the next run, in words."""
        if not self.writable:
            return "cannot be written: every process compiles its engines again; set WORKBENCH_CACHE=FOLDER"
        if not self.functions:
            return "empty: each engine is compiled once, when it first runs"
        return f"compiled functions of these sources: {self.functions}"


def facts() -> dict[str, Any]:
    """Return all facts as one JSON-ready mapping, sizes in bytes."""
    cache = compile_cache()
    return {
        "versions": versions(),
        "compile_cache": {**cache._asdict(), "state": cache.state},
        "free_memory_bytes": free_memory(),
        "free_disk_bytes": {"cache": free_disk(cache.folder), "here": free_disk(Path.cwd())},
    }


def versions() -> dict[str, str]:
    """Return the versions that results depend on, by name; a package that is not installed is "absent"."""
    own = {"workbench": __version__, "python": platform.python_version()}
    return {**own, **{name: _version(name) for name in PACKAGES}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def compile_cache() -> CompileCache:
    """Return the place of compiled code and its size; nothing is created."""
    from workbench.compiled.kernel import code_home, is_current

    home = code_home()
    folders = [path for path in sorted(home.glob("*/*")) if path.is_dir()]
    own = [path for path in folders if is_current(path)]
    # Of other states of a module's sources, and, as 0.4 had them, of all sources.
    earlier = [path for path in folders if path not in own] + sorted(home.parent.glob("[0-9a-f]" * 16))
    functions = sum(1 for folder in own for _ in folder.rglob("*.nbi"))
    sizes = sum(map(folder_bytes, own)), sum(map(folder_bytes, earlier))
    return CompileCache(str(home), functions, sizes[0], list(map(str, earlier)), sizes[1], _writable(home))


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder, 0 where there is none; a file that goes meanwhile counts 0."""
    return sum(_bytes(path) for path in folder.rglob("*"))


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _standing(folder: Path) -> Path:
    """Return the nearest folder above, or this one, that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.is_dir())


def _writable(folder: Path) -> bool:
    return os.access(_standing(folder), os.W_OK | os.X_OK)


def free_disk(folder: str | Path) -> int:
    """Return the free bytes of the disk that holds a folder, which need not exist yet."""
    return shutil.disk_usage(_standing(Path(folder))).free


def free_memory(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = _CGROUP) -> int | None:
    """Return the bytes that processes may still take: of the machine or, where less, of this container; None = unknown.

    Parameters
    ----------
    meminfo, cgroup : Path
        Where Linux tells of the machine and of the container.
    """
    bounds = [_available_memory(meminfo), _left_in_cgroup(cgroup)]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known else None


def _available_memory(meminfo: Path) -> int | None:
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _left_in_cgroup(cgroup: Path) -> int | None:
    try:
        most, used = ((cgroup / f"memory.{name}").read_text().strip() for name in ("max", "current"))
        return None if most == "max" else max(int(most) - int(used), 0)
    except (OSError, ValueError):
        return None
