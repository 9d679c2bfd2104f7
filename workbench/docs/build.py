"""Build the site: assemble its sources, let Sphinx make pages of them, check every link between them."""

from __future__ import annotations

import shutil
from pathlib import Path

from workbench.docs.assemble import assemble
from workbench.docs.folders import BUILD, DOCS, has_sources
from workbench.docs.links import dead_links
from workbench.errors import InputError, WorkbenchError, missing_extra


def build(out: Path = BUILD, executed: bool = True, few: bool = False, workers: int = 2) -> Path:
    """Build the site and return its first page.

    Parameters
    ----------
    out : Path
        The folder for sources, Sphinx's memory and pages.
    executed : bool
        Whether notebooks are run where no executed copy is kept.
    few : bool
        Whether three pages of a kind stand for all.
    workers : int
        Processes that read and write pages.

    Raises
    ------
    WorkbenchError
        The sources are not here, Sphinx is not installed, it had something to warn of, or a link is dead.
    """
    if not has_sources():
        raise InputError("the site is built in a checkout of the project: this package has none around it.")
    assemble(out / "source", executed, few)
    _sphinx(out, workers)
    shutil.copytree(DOCS / "pictures" / "gallery", out / "html" / "_static" / "gallery", dirs_exist_ok=True)
    dead = [] if few else dead_links(out / "html")
    if dead:
        raise WorkbenchError(f"{len(dead)} links lead nowhere: {'; '.join(dead[:10])}")
    return out / "html" / "index.html"


def _sphinx(out: Path, workers: int) -> None:
    try:
        from sphinx.cmd.build import main
    except ImportError:
        raise missing_extra("the documentation", "docs") from None
    quiet = ["-q", "-W", "--keep-going", "-j", str(workers), *(["-a"] if _contents_changed(out) else [])]
    status = main(
        [*quiet, "-b", "html", "-c", str(DOCS), "-d", str(out / "doctrees"), str(out / "source"), str(out / "html")]
    )
    if status:
        raise WorkbenchError("Sphinx had something to warn of; its sentences stand above.")


def _contents_changed(out: Path) -> bool:
    """Return whether the table of contents, which every page shows, is newer than the built pages."""
    first, built = out / "source" / "index.md", out / "html" / "index.html"
    return built.exists() and first.stat().st_mtime_ns > built.stat().st_mtime_ns
