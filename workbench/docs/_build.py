"""Build the site: assemble its sources in one folder, let Sphinx make pages of them, check every link between them.

A file is written only where it changed, so that Sphinx builds again what must be; what no longer belongs there is
removed.
"""

from __future__ import annotations

import functools
import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from workbench.docs import BUILD, DOCS, PICTURES, has_sources
from workbench.docs import _sources as sources
from workbench.docs._fitted import fitted
from workbench.docs._heads import page_heads, with_head
from workbench.docs._notebook_pages import notebook_sources
from workbench.docs.markdown import Kind, Page, ref, sections, table, toctree
from workbench.docs.reference import engines, interface, workloads
from workbench.docs.reference.claims import claim_pages
from workbench.docs.reference.figures import FIGURE_KIND
from workbench.docs.reference.levers import LEVER_KIND
from workbench.docs.reference.policies import POLICY_KIND
from workbench.errors import InputError, WorkbenchError, missing_extra


def build(out: Path = BUILD, executed: bool = True, workers: int = 2) -> Path:
    """Build the site and return its first page.

    Parameters
    ----------
    out : Path
        The folder for sources, Sphinx's memory and pages.
    executed : bool
        Whether notebooks and commands are run where no outputs are kept.
    workers : int
        Processes that read and write pages.

    Raises
    ------
    WorkbenchError
        The sources are not here, Sphinx is not installed, it had something to warn of, or a link is dead.
    """
    if not has_sources():
        raise InputError("the site is built in a checkout of the project: this package has none around it.")
    assemble(out / "source", executed)
    _sphinx(out, workers)
    write_moved(out / "html")
    if dead := dead_links(out / "html"):
        raise WorkbenchError(f"{len(dead)} links lead nowhere: {'; '.join(dead[:10])}")
    return out / "html" / "index.html"


def _sphinx(out: Path, workers: int) -> None:
    try:
        from sphinx.cmd.build import main
    except ImportError:
        raise missing_extra("the documentation", "docs") from None
    folders = ["-c", str(DOCS), "-d", str(out / "doctrees"), str(out / "source"), str(out / "html")]
    status = main(["-q", "-W", "--keep-going", "-a", "-j", str(workers), "-b", "html", *folders])
    if status:
        raise WorkbenchError("Sphinx had something to warn of; its sentences stand above.")


MOVED = {
    "concepts": "glossary.html#concepts-in-one-picture",
    "engines": "choose.html#which-engine-do-i-need",
    "memory_reports": "advise.html#public-memory-reports-compared",
    "reading": "verdict/index.html#how-to-read-a-verdict",
    "reports": "residency.html#hangs-and-residency-in-public-reports",
    "workers": "machines.html#what-workers-promise",
    "your_package": "own_parts.html#your-own-package",
}
"""Former pages of the first folder, and the part of a page that has their text."""
_MOVED_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>
<meta content="This page has moved." name="description">
<meta http-equiv="refresh" content="0; url={target}"></head>
<body><p>This page has moved: <a href="{target}">{target}</a></p></body></html>
"""


def write_moved(html: Path) -> None:
    """Write a page at each former address of a built site; it leads to the present one."""
    for former, target in MOVED.items():
        (html / f"{former}.html").write_text(_MOVED_PAGE.format(target=target), encoding="utf-8")


def assemble(folder: Path, executed: bool = True) -> None:
    """Write the sources of the site; what lies in their folder and is no source any more is removed.

    Parameters
    ----------
    folder : Path
        Where they go.
    executed : bool
        Whether notebooks and commands are run where no outputs are kept.
    """
    pages = (*reference_pages(), *sources.specification_pages(), *sources.handwritten_pages(executed))
    heads = page_heads()
    texts = {f"{page.path}.md": fitted(with_head(page, heads).placed()) for page in pages} | notebook_sources(
        executed, heads
    )
    shutil.copytree(PICTURES, folder / "pictures", dirs_exist_ok=True)
    for path in [*folder.rglob("*.md"), *folder.rglob("*.ipynb")]:
        if path.relative_to(folder).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


KINDS: tuple[Kind, ...] = (
    engines.ENGINE_KIND,
    POLICY_KIND,
    engines.MEASURE_KIND,
    LEVER_KIND,
    FIGURE_KIND,
    workloads.WORKLOAD_KIND,
    workloads.PRESET_KIND,
    workloads.IMPORTER_KIND,
    interface.COMMAND_KIND,
    interface.WORD_KIND,
)


def reference_pages() -> list[Page]:
    """Return every page of the reference and of the claims, those that list them included."""
    pages, rows, firsts = [*claim_pages()], [], []
    for kind in KINDS:
        members = [*kind.pages()]
        first = kind.overview(members)
        pages += dict.fromkeys([*members, first])
        firsts.append(first.path)
        rows.append([ref(kind.title, first.path), kind.description, sum(len(page.names) for page in members)])
    words = "Every page here is made from the code: from levers, questions, measures and figures as they are declared."
    text = sections("# Reference", words, table(["part", "what it is", "entries"], rows), toctree(firsts))
    return [*pages, Page("reference/index", "Reference", text)]


_HREF = re.compile(r'<a\b[^>]*?\shref="([^"]+)"|<(?:img|script)\b[^>]*?\ssrc="([^"]+)"|<link\b[^>]*?\shref="([^"]+)"')
_ID = re.compile(r'\bid="([^"]+)"')


def dead_links(html: Path) -> list[str]:
    """Return the links of a built site that lead to no file or to no anchor, as `page: link`."""
    anchors = functools.cache(lambda path: frozenset(_ID.findall(path.read_text("utf-8"))) if path.is_file() else ())
    dead = set()
    for page in html.rglob("*.html"):
        for link in _links_of(page.read_text(encoding="utf-8")):
            target, _, anchor = link.partition("#")
            place = Path(posixpath.normpath(page.parent / target.partition("?")[0])) if target else page
            if not place.exists() or (anchor and anchor not in anchors(place)):
                dead.add(f"{page.relative_to(html)}: {link}")
    return sorted(dead)


def _links_of(text: str) -> Iterator[str]:
    for match in _HREF.finditer(text):
        link = next(filter(None, match.groups()))
        if not re.match(r"\w+:|//", link):
            yield unquote(link.replace("&amp;", "&"))
