"""Where results come from: versions, commit, machine, the sweep as resolved."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

from workbench.experiments.plan import Plan
from workbench.experiments.run_id import canonical, digest
from workbench.experiments.sources import sources

_PACKAGES = ("gpu-policy-workbench", "numba", "numpy", "scipy", "pandas", "optuna")


def provenance(plan: Plan, seconds: float) -> dict[str, Any]:
    """What a reader needs to know where a table came from, in plain types."""
    return {
        "sweep": plan.sweep.name,
        "sweep_digest": digest(canonical(_plain(plan.sweep.said))),
        "points": {point.id: point.setup.identity() for point in plan.points},
        "engine_revision": plan.sweep.mechanism.engine.revision,
        "seeds": plan.sweep.seeds,
        "runs": len(plan),
        "seconds": round(seconds, 3),
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **environment(),
    }


def environment() -> dict[str, Any]:
    """Versions of the packages that compute results, of Python, of the sources, and the kind of machine."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in _PACKAGES},
        "commit": _commit(),
        "sources": sources(),
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


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
