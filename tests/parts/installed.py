"""Packages that bring parts, as an installer leaves them in a folder."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from workbench import guests
from workbench.identity import observed, owner

ROOT = Path(__file__).parent.parent.parent
GUEST = ROOT / "tests" / "guest_package"
"""The package of the tests, with a part of each kind."""


def write_package(site: Path, package: str, entries: Mapping[str, str], modules: Mapping[str, str]) -> None:
    """Write a package of version 1.0 with entry points, and its modules as text."""
    notes = site / f"{package.replace('-', '_')}-1.0.dist-info"
    notes.mkdir(parents=True)
    (notes / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"[{guests.GROUP}]", *(f"{name} = {place}" for name, place in entries.items())]
    (notes / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, text in modules.items():
        (site / f"{name}.py").write_text(text)


def pip_environment(site: Path) -> dict[str, str]:
    """Return the variables with which `pip install` fills a folder, without any request, and Python imports from it."""
    pip = {"PIP_TARGET": str(site), "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return {**os.environ, **pip, "PATH": path, "PYTHONPATH": os.pathsep.join((str(ROOT), str(site)))}


def guest_entries() -> dict[str, str]:
    """Return the entry points of the package of the tests."""
    project = tomllib.loads((GUEST / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return dict(project["entry-points"][guests.GROUP])


@contextmanager
def site_of(site: Path) -> Iterator[Path]:
    """Let a folder be one of installed packages, within this context; what is imported from it is forgotten."""
    folders, before = owner.installed_folders, {*sys.modules}
    owner.installed_folders = observed.installed_folders = lambda: (site, *folders())
    sys.path.insert(0, str(site))
    guests.forget()
    try:
        yield site
    finally:
        sys.path.remove(str(site))
        owner.installed_folders = observed.installed_folders = folders
        for name in {*sys.modules} - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(site)):
                del sys.modules[name]
        guests.forget()
        owner._lies_installed.cache_clear()
