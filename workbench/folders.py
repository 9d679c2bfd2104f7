"""Where the workbench keeps what it can make or fetch again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """Return the user's cache folder for this package; `WORKBENCH_CACHE` names another one."""
    named = os.environ.get("WORKBENCH_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpu-policy-workbench"
