"""Gather every source of the site in one folder: hand-written pages, the specification, the reference, notebooks.

A file is written only where it changes, so that Sphinx builds anew what changed alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from workbench.docs import handwritten, notebooks, specification
from workbench.docs.folders import PICTURES
from workbench.docs.page import Page, address, sections, table
from workbench.docs.reference.kinds import KINDS

FEW = 3
ORPHAN = "---\norphan: true\n---\n\n"
"""Leaves of the reference stand in no table of contents, which every page would repeat."""


def assemble(folder: Path, executed: bool = True, few: bool = False) -> list[str]:
    """Write the sources of the site and return their paths, without suffix.

    Parameters
    ----------
    folder : Path
        Where they go; what lies there and is no source any more is removed.
    executed : bool
        Whether notebooks are run where no executed copy is kept.
    few : bool
        Whether three pages of a kind stand for all: for a look at the site's build in seconds.
    """
    written = dict(_pages(few))
    written.update(notebooks.sources(executed))
    for path, text in written.items():
        _write(folder / path, text)
    pictures = _copied_pictures(folder / "pictures")
    _remove_others(folder, {folder / path for path in written} | pictures)
    return sorted(path.rpartition(".")[0] for path in written)


def _pages(few: bool) -> Iterator[tuple[str, str]]:
    leaves, indexes = reference_pages(FEW if few else None)
    for page in leaves:
        yield f"{page.path}.md", ORPHAN + page.text
    for page in (*indexes, *specification.pages(), *handwritten.pages()):
        yield f"{page.path}.md", page.text


def reference_pages(most: int | None = None) -> tuple[list[Page], list[Page]]:
    """Return every page of the reference, or so many of a kind, and the pages that list them."""
    leaves: list[Page] = []
    indexes: list[Page] = []
    for kind in KINDS:
        pages = list(islice(kind.pages(), most))
        leaves += pages
        if kind.description:
            indexes.append(kind.contents(pages))
    return leaves, [*indexes, _front(indexes, leaves)]


def _front(indexes: Sequence[Page], leaves: Sequence[Page]) -> Page:
    here = "reference/index"
    rows = [
        [f"[{page.title}]({address(here, page.path)})", kind.description, sum(_in(leaf, kind.name) for leaf in leaves)]
        for kind, page in zip([kind for kind in KINDS if kind.description], indexes, strict=True)
    ]
    names = "\n".join(page.path.removeprefix("reference/") for page in indexes)
    contents = f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```"
    words = "Every page here is made from the code: from levers, questions, measures and figures as they are declared."
    return Page(
        here, "Reference", sections("# Reference", words, table(["part", "what it is", "pages"], rows), contents)
    )


def _in(leaf: Page, kind: str) -> bool:
    return leaf.path.startswith(f"reference/{kind}/")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _copied_pictures(folder: Path) -> set[Path]:
    copies = set()
    for picture in sorted(PICTURES.rglob("*.png")):
        copy = folder / picture.relative_to(PICTURES)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.stat().st_mtime_ns != picture.stat().st_mtime_ns:
            shutil.copy2(picture, copy)
        copies.add(copy)
    return copies


def _remove_others(folder: Path, wanted: Iterable[Path]) -> None:
    keep = set(wanted)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in keep:
            path.unlink()
