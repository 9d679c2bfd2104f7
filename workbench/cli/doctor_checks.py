"""The checks of `workbench doctor`: each looks for one thing, and names what brings it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("numpy", "numba", "scipy", "optuna", "jupyterlab", "ipywidgets")
"""What the package cannot do without."""
TEX = "apt-get install texlive-latex-base texlive-latex-recommended texlive-pictures lmodern cm-super"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox")
GIB = float(1 << 30)


class Check(NamedTuple):
    """What one look at the machine came to."""

    name: str
    there: bool
    state: str
    """What there is, in a few words."""
    used_for: str = ""
    cure: str = ""
    """The one command that brings it where it is missing."""


class Part(NamedTuple):
    """Something that only some of the workbench needs."""

    name: str
    look: Callable[[], str]
    """What there is of it, in a few words; empty where there is nothing."""
    used_for: str
    cure: str


def checks() -> list[Check]:
    """Return every check of this machine, in the order in which they are printed.

    Returns
    -------
    list of Check
        Versions, the compile cache, memory and disk, then each part that is not always needed.

    Examples
    --------
    >>> checks()[0].name, all(check.cure for check in checks() if not check.there)
    ('python', True)
    """
    return [_python(), _packages(), _compiled(), _cores(), _memory(), _disk(), *map(_checked, PARTS)]


def _checked(part: Part) -> Check:
    state = part.look()
    return Check(part.name, bool(state), state or "not here", part.used_for, part.cure)


def _python() -> Check:
    import workbench

    return Check("python", True, f"{platform.python_version()}, workbench {workbench.__version__}")


def _packages() -> Check:
    states = {name: _version(name) for name in PACKAGES}
    cure = "pip install " + " ".join(name for name in PACKAGES if not states[name])
    words = ", ".join(f"{name} {state or 'missing'}" for name, state in states.items())
    return Check("packages", all(states.values()), words, "everything", cure)


def _compiled() -> Check:
    from workbench.compiled.cache import cache_folder
    from workbench.experiments.warm import compiled_engines

    folder = cache_folder()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20
    engines = ", ".join(compiled_engines()) or "no engine yet (each is compiled once, when it is first used)"
    return Check("compiled", True, f"{engines}; {size:.0f} MiB in {folder.parent}")


def _cores() -> Check:
    return Check("cores", True, f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}, {platform.machine()}")


def _memory() -> Check:
    fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    free, total = (int(fields[name].split()[0]) * 1024 / GIB for name in ("MemAvailable", "MemTotal"))
    return Check("memory", True, f"{free:.1f} of {total:.1f} GiB free")


def _disk() -> Check:
    usage = shutil.disk_usage(Path.cwd())
    return Check("disk", True, f"{usage.free / GIB:.0f} of {usage.total / GIB:.0f} GiB free here")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _program(*names: str) -> str:
    return next(filter(None, map(shutil.which, names)), None) or ""


def _installed(*packages: str) -> str:
    states = [f"{name} {_version(name)}" for name in packages if _version(name)]
    return ", ".join(states) if len(states) == len(packages) else ""


def _circuits() -> str:
    from workbench.circuits.synthesis import synthesiser
    from workbench.errors import WorkbenchError

    try:
        return str(synthesiser().name)
    except WorkbenchError:
        return ""


def _card() -> str:
    if not importlib.util.find_spec("numba_cuda"):
        return ""
    return _program("nvidia-smi")


def _traces() -> str:
    from workbench.workloads.catalogue import FOLDER_VARIABLE

    named = filter(None, os.environ.get(FOLDER_VARIABLE, "").split(os.pathsep))
    return ", ".join(folder for folder in named if Path(folder).is_dir())


def _extra(name: str) -> str:
    return f"pip install 'gpu-policy-workbench[{name}]'"


PARTS = (
    Part("figures", lambda: _installed("matplotlib"), "pictures", _extra("figures")),
    Part("dashboards", lambda: _installed("anywidget", "voila"), "workbench dashboard", _extra("dashboards")),
    Part("browser", lambda: _program(*BROWSERS), "dashboards on this machine", "apt-get install chromium"),
    Part("TeX", lambda: _program("pdflatex", "xelatex"), "the PDF of make paper, and PGF", TEX),
    Part("Parquet", lambda: _installed("pyarrow"), "tables as Parquet", _extra("store")),
    Part("cluster", lambda: _installed("distributed"), "run --cluster", _extra("cluster")),
    Part("PostgreSQL", lambda: _installed("psycopg"), "studies that several machines share", _extra("postgresql")),
    Part("sensitivity", lambda: _installed("SALib"), "workbench sensitivity", _extra("sensitivity")),
    Part("synthesiser", _circuits, "workbench synth", _extra("circuits")),
    Part("solver", lambda: _installed("bitwuzla"), "workbench prove", _extra("circuits")),
    Part("Icarus Verilog", lambda: _program("iverilog"), "golden vectors in Verilog", "apt-get install iverilog"),
    Part("NVIDIA card", _card, "device malloc on hardware", _extra("gpu")),
    Part("public traces", _traces, "replay of recordings", "let WORKBENCH_TRACES name the folders that hold them"),
)
"""What only some of the workbench needs."""
