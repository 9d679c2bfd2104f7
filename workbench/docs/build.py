"""Build the site: assemble its sources in one folder, let Sphinx make pages of them, check every link between them.

A file is written only where it changed, so that Sphinx builds anew what must be; what no longer belongs there is
removed.
"""

from __future__ import annotations

import functools
import posixpath
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from urllib.parse import unquote

from workbench.docs import BUILD, DOCS, PICTURES, has_sources, sources
from workbench.docs.markdown import Kind, Page, address, sections, table
from workbench.docs.reference import engines, interface, policies, results, workloads
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
    written.update(sources.notebook_sources(executed))
    for path, text in written.items():
        _write(folder / path, text)
    pictures = _copied_pictures(folder / "pictures")
    _remove_others(folder, {folder / path for path in written} | pictures)
    return sorted(path.rpartition(".")[0] for path in written)


def _pages(few: bool) -> Iterator[tuple[str, str]]:
    leaves, indexes = reference_pages(FEW if few else None)
    for page in leaves:
        yield f"{page.path}.md", ORPHAN + page.text
    for page in (*indexes, *sources.specification_pages(), *sources.handwritten_pages()):
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
        [
            f"[{page.title}]({address(here, page.path)})",
            kind.description,
            sum(_is_of_kind(leaf, kind.name) for leaf in leaves),
        ]
        for kind, page in zip([kind for kind in KINDS if kind.description], indexes, strict=True)
    ]
    names = "\n".join(page.path.removeprefix("reference/") for page in indexes)
    contents = f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{names}\n```"
    words = "Every page here is made from the code: from levers, questions, measures and figures as they are declared."
    return Page(
        here, "Reference", sections("# Reference", words, table(["part", "what it is", "pages"], rows), contents)
    )


def _is_of_kind(leaf: Page, kind: str) -> bool:
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


KINDS: tuple[Kind, ...] = (
    engines.ENGINE_KIND,
    policies.QUESTION_KIND,
    policies.POLICY_KIND,
    policies.LEVER_KIND,
    engines.MEASURE_KIND,
    results.FIGURE_KIND,
    workloads.WORKLOAD_KIND,
    workloads.PRESET_KIND,
    workloads.IMPORTER_KIND,
    interface.COMMAND_KIND,
    interface.WORD_KIND,
    results.CLAIM_KIND,
)

_HREF = re.compile(r'<a\b[^>]*?\shref="([^"]+)"|<(?:img|script)\b[^>]*?\ssrc="([^"]+)"|<link\b[^>]*?\shref="([^"]+)"')
_ID = re.compile(r'\bid="([^"]+)"')


def dead_links(html: Path) -> list[str]:
    """Return the links of a built site that lead to no file or to no anchor, as `page: link`."""
    anchors = functools.cache(lambda path: _anchors(path))
    dead = []
    for page in sorted(html.rglob("*.html")):
        for link in _links_of(page.read_text(encoding="utf-8")):
            if not _is_alive(page, link, anchors):
                dead.append(f"{page.relative_to(html)}: {link}")
    return sorted(set(dead))


def _links_of(text: str) -> Iterator[str]:
    for match in _HREF.finditer(text):
        link = next(filter(None, match.groups()))
        if not re.match(r"\w+:|//", link):
            yield unquote(link.replace("&amp;", "&"))


def _anchors(path: Path) -> frozenset[str]:
    return frozenset(_ID.findall(path.read_text(encoding="utf-8"))) if path.is_file() else frozenset()


def _is_alive(page: Path, link: str, anchors: functools._lru_cache_wrapper[frozenset[str]]) -> bool:
    target, _, anchor = link.partition("#")
    target = target.partition("?")[0]
    place = page.parent / posixpath.normpath(target) if target else page
    place = Path(posixpath.normpath(place.as_posix()))
    if not place.exists():
        return False
    return not anchor or anchor in anchors(place)


def outside_requests(html: Path) -> list[str]:
    """Return what pages would fetch from elsewhere: scripts, styles, fonts and pictures with an address."""
    fetched = re.compile(
        r'<(?:img|script|iframe)\b[^>]*\ssrc="((?:https?:)?//[^"]+)"|<link\b[^>]*\shref="(https?://[^"]+)"'
    )
    style = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")
    result = []
    for page in sorted([*html.rglob("*.html"), *html.rglob("*.css")]):
        text = page.read_text(encoding="utf-8")
        pattern = style if page.suffix == ".css" else fetched
        result += [
            f"{page.relative_to(html)}: {next(filter(None, match.groups()))}" for match in pattern.finditer(text)
        ]
    return result
