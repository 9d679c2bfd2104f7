"""Where results come from: the sweep as resolved, and the origins of its rows."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.experiments.run_id import canonical, digest
from workbench.experiments.sources import sources

if TYPE_CHECKING:
    from workbench.experiments.run_set import RunSet

_PACKAGES = ("gpu-policy-workbench", "numba", "llvmlite", "numpy", "scipy", "pandas", "optuna")
_PROCESSORS = Path("/proc/cpuinfo")


def provenance(runs: RunSet) -> dict[str, Any]:
    """Return what a reader needs to know where a table came from, in plain types.

    It is derived from the rows alone: a process that finds every row kept leaves it as it is, to the byte.
    """
    plan = runs.plan
    return {
        "sweep": plan.sweep.name,
        "sweep_digest": digest(canonical(_plain(plan.sweep.said))),
        "points": {point.id: point.setup.identity() for point in plan.points},
        "engine_revision": plan.sweep.mechanism.engine.revision,
        "seeds": plan.sweep.seeds,
        **({"looks": list(plan.sweep.looks)} if plan.sweep.looks else {}),
        "runs": len(plan),
        "rows": len(runs.rows),
        "origins": [origin.plain() for origin in runs.origins],
    }


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
    """Return what the processor calls itself, on which the code that Numba makes depends; empty where unknown."""
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


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)
