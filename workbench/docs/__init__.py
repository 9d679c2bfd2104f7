"""The documentation's site: reference pages from the registries, drawings from runs, built by Sphinx without a network.

`python -m workbench.docs` writes the sources of every page and builds them; `workbench open docs` opens what is built.
Here is where those sources lie in a checkout: hand-written pages, pictures, sweeps, notebooks, verdicts.
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = DOCS / "pages"
PICTURES = DOCS / "pictures"
SPECIFICATION = DOCS / "specification"
SWEEPS = ROOT / "sweeps"
NOTEBOOKS = ROOT / "notebooks"
VERDICT = ROOT / "data" / "verdict"
BUILD = DOCS / "_build"


def has_sources() -> bool:
    """Return whether this package lies in a checkout that holds the site's sources."""
    return (DOCS / "conf.py").is_file() and PAGES.is_dir()
