"""What the site is made of besides the reference: pages written by hand, the specifications, notebooks with outputs.

Pages written by hand are those of `docs/pages`, and texts of the project that are pages as they stand. In a page
`{{drawing NAME}}` stands for a drawing, `{{include FILE begin .. end}}` for a part of a file of the project and
`{{table NAME}}` for a table that the code makes; each on a line of its own. Every item of a specification keeps its
anchor. Links lead to a built page, or to a file, which is named.

Notebooks are executed once, and kept as long as nothing that they run has changed: an executed copy lies in the user's
cache under a digest of the notebook, its sweeps, the version, and the revision of every engine that they name.
Notebooks in the project stay without outputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Any
from unittest import mock

from workbench.docs import NOTEBOOKS, PAGES, ROOT, SPECIFICATION, SWEEPS
from workbench.docs.drawings import drawn
from workbench.docs.markdown import ROOMS, Page, code, linked, ref, sections, toctree
from workbench.docs.reference import results
from workbench.errors import WorkbenchError
from workbench.files import cache_home
from workbench.notebooks.execution import STILL
from workbench.version import __version__

_MARK = re.compile(r"^\{\{(?P<what>\w+) (?P<rest>[^}]*)\}\}$", re.MULTILINE)
TABLES: dict[str, Callable[[], str]] = {
    "verdict": results.verdict_summary,
    "claims": results.claims_table,
    "words": results.verdict_words,
    "kinds": results.claim_kinds,
    "gallery": results.gallery_cards,
    "deviations": lambda: "\n".join(f"- {ref(name, f'deviations/{name}')}" for name in deviations()),
}
"""What `{{table NAME}}` stands for."""

_LINK = re.compile(r"(?P<bang>!?)\[(?P<words>[^\[\]]*)\]\((?P<target>[^()\s]+)\)")
BUILT = {
    "README.md": "index",
    "CONTRIBUTING.md": "recipes",
    "CHANGELOG.md": "changes",
    "docs/statistics.md": "statistics",
    "docs/translation-rules.md": "mechanisms/translation-rules",
    "data/verdict/verdict.md": "verdict/index",
    "data/verdict/cases.csv": "verdict/index",
}
"""Files of the project that are pages of the site."""


def handwritten_pages() -> Iterator[Page]:
    """Yield every page that is written by hand, with its drawings and its links."""
    for file in sorted(PAGES.rglob("*.md")):
        here = file.relative_to(PAGES).with_suffix("").as_posix()
        yield page(here, file.read_text(encoding="utf-8"), file.parent.relative_to(ROOT))
    for name, here in BUILT.items():
        file = ROOT / name
        if not (PAGES / f"{here}.md").exists() and file.is_file() and name.endswith(".md"):
            yield page(here, file.read_text(encoding="utf-8"), file.parent.relative_to(ROOT))
    for name, file in deviations().items():
        yield page(f"deviations/{name}", "---\norphan: true\n---\n\n" + file.read_text(encoding="utf-8"), Path(), name)


def deviations() -> dict[str, Path]:
    """Return the lists of what departs from the specifications, by room."""
    return {file.parent.name: file for file in sorted((ROOT / "workbench").rglob("DEVIATIONS.md"))}


def page(here: str, text: str, folder: Path, room: str = "") -> Page:
    """Return a page of a text of the project."""
    title = next((line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")), here)
    body = linked(rewritten(text, folder), ROOMS.get(room))
    return Page(here, title, _MARK.sub(lambda match: _filled(match, here), body))


def _filled(match: re.Match[str], here: str) -> str:
    rest = match["rest"].strip()
    if match["what"] == "drawing":
        return drawn(rest)
    if match["what"] == "table":
        return TABLES[rest]()
    if match["what"] == "file":
        return code((ROOT / rest).read_text(encoding="utf-8"), "yaml")
    if match["what"] == "include":
        return included(rest, here)
    raise KeyError(f"{here}: there is no {match['what']!r} to fill in")


def included(what: str, here: str) -> str:
    """Return a section of a Markdown file: `CONTRIBUTING.md ## Add a policy` is all below that heading."""
    name, _, heading = what.partition(" ")
    text = (ROOT / name).read_text(encoding="utf-8")
    level = heading.partition(" ")[0]
    _, mark, after = text.partition(f"\n{heading}\n")
    if not mark:
        raise KeyError(f"{here}: {name} has no heading {heading!r}")
    end = re.search(rf"^#{{1,{len(level)}}} ", _outside_of_code(after), re.MULTILINE)
    body = after[: end.start()] if end else after
    return linked(rewritten(body, Path(name).parent))


def _outside_of_code(text: str) -> str:
    """Return a text of the same length in which no line of code can pass for a heading."""
    return re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", "x", match[0]), text, flags=re.MULTILINE | re.DOTALL)


def specification_pages() -> Iterator[Page]:
    """Yield the pages of the specification, their order of reading below the first."""
    files = sorted(SPECIFICATION.glob("*.md"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        here = f"specification/{file.stem}"
        number = int(file.stem[0]) if file.stem[0].isdigit() else None
        body = linked(rewritten(text, file.parent.relative_to(ROOT)), number)
        others = [f"specification/{other.stem}" for other in files if other != file]
        yield Page(here, title, sections(body, toctree(others) if file.stem == "index" else ""))


def anchors(page: str) -> list[str]:
    """Return the anchors of a page of the specification, in their order."""
    return re.findall(r'<a id="([^"]+)"></a>', page)


def rewritten(text: str, folder: Path) -> str:
    """Return a text whose links lead to pages of the site.

    Parameters
    ----------
    text : str
        Markdown.
    folder : Path
        Where the text stands in the project, from its root.
    """
    return _LINK.sub(lambda match: _link(match, PurePosixPath(folder.as_posix())), text)


def _link(match: re.Match[str], folder: PurePosixPath) -> str:
    target, mark, anchor = match["target"].partition("#")
    if ":" in target or not target:
        return match[0]
    place = posixpath.normpath(str(folder / target))
    if match["bang"] and place.startswith("docs/pictures/"):
        return f"![{match['words']}](/{place.removeprefix('docs/')})"
    if (page := _built_page(place)) is not None:
        return ref(match["words"], f"{page}{mark}{anchor}")
    return match["words"] if match["words"].startswith("`") else f"{match['words']} (`{place}`)"


def _built_page(place: str) -> str | None:
    if place in BUILT:
        return BUILT[place]
    if place.endswith("DEVIATIONS.md"):
        return f"deviations/{PurePosixPath(place).parent.name}"
    if place.startswith("notebooks/") and place.endswith(".ipynb"):
        return place.removesuffix(".ipynb")
    inside = place.removesuffix(".md")
    for folder in ("docs/pages/", "docs/"):
        if place.endswith(".md") and inside.startswith(folder):
            return inside.removeprefix(folder)
    return None


_WIDGET = "application/vnd.jupyter.widget-view+json"
_FORM = 2
"""Of executed copies: with pictures where dashboards stood."""
NOT_EXECUTED = (
    "```{note}\nShown without outputs: this copy of the site was built without running notebooks. `make docs` runs "
    "them once.\n```"
)


def notebook_sources(execute: bool) -> dict[str, str]:
    """Return the notebooks as sources of the site, by their paths, and the page that lists them."""
    pages = {f"notebooks/{file.name}": _notebook_source(file, execute) for file in sorted(NOTEBOOKS.glob("*.ipynb"))}
    return {**pages, "notebooks/index.md": _index([Path(name).stem for name in pages])}


def _notebook_source(file: Path, execute: bool) -> str:
    copy = kept_copy(file)
    if execute and not copy.exists():
        run_notebook(file, copy)
    if not copy.exists():
        return json.dumps(_with_note(json.loads(file.read_text(encoding="utf-8"))))
    return json.dumps(_shown_outputs(json.loads(copy.read_text(encoding="utf-8"))))


def kept_copy(file: Path) -> Path:
    """Return where the executed copy of a notebook lies."""
    text = file.read_text(encoding="utf-8")
    sweeps = [(SWEEPS / name).read_text(encoding="utf-8") for name in sorted(set(_SWEEP.findall(text)))]
    what = json.dumps([_FORM, text, sweeps, __version__, _revisions("\n".join([text, *sweeps]))])
    digest = hashlib.blake2b(what.encode(), digest_size=10).hexdigest()
    return cache_home() / "notebooks" / f"{file.stem}-{digest}.ipynb"


_SWEEP = re.compile(r"sweeps/([\w/]+\.yaml)")


def _revisions(text: str) -> list[tuple[str, str]]:
    """Return the engines that a text names, with their revisions."""
    from workbench.mechanisms.mechanism import mechanism, mechanisms

    return [(name, str(mechanism(name).revision)) for name in mechanisms() if re.search(rf"\b{name}\b", text)]


def run_notebook(file: Path, copy: Path) -> None:
    """Execute a notebook, compiled, and keep it.

    Raises
    ------
    WorkbenchError
        A cell of it fails.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    print(f"docs: running {file.name} (kept from then on)", file=sys.stderr, flush=True)
    notebook = nbformat.read(file, as_version=4)
    with _compiled():
        client = NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": str(NOTEBOOKS)}})
        try:
            client.execute()
        except CellExecutionError as problem:
            raise WorkbenchError(f"{file.name}: a cell fails: {problem.ename}: {problem.evalue}") from None
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(nbformat.writes(notebook), encoding="utf-8")


def _compiled() -> AbstractContextManager[Any]:
    """Let the kernels of notebooks compile although this process does not, find this package, and be unwatched."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    there = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    return mock.patch.dict(os.environ, {**there, STILL: "1", "PYTHONPATH": path}, clear=True)


def _with_note(notebook: dict[str, Any]) -> dict[str, Any]:
    note = {"cell_type": "markdown", "id": "not-executed", "metadata": {}, "source": NOT_EXECUTED}
    notebook["cells"].insert(1, note)
    return notebook


def _shown_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without what a page cannot show: messages to the log, live widgets but for their picture."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            for out in cell["outputs"]:
                _without_widget(out.get("data", {}))
            cell["outputs"] = [out for out in cell["outputs"] if _can_be_shown(out)]
    notebook["metadata"].pop("widgets", None)
    return notebook


def _without_widget(data: dict[str, Any]) -> None:
    """Leave the picture of a widget; one that has none has nothing to show."""
    if data.pop(_WIDGET, None) is not None and "image/png" not in data:
        data.clear()


def _can_be_shown(out: dict[str, Any]) -> bool:
    return out.get("name") != "stderr" and out.get("data") != {}


def _index(names: list[str]) -> str:
    words = (
        "Lessons and studies, one a mechanism, with what they printed and drew. `make lab` opens them in JupyterLab."
    )
    listed = "\n".join(names)
    return sections("# Notebooks", words, f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```")
