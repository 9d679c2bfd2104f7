"""Notebooks with outputs as pages of the site.

Notebooks are executed once, and kept as long as nothing that they run has changed: an executed copy lies in the user's
cache under a digest of the notebook, its sweeps, the version, and the revision of every engine that they name.
Notebooks in the project stay without outputs.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

from workbench.docs import NOTEBOOKS, ROOT, SWEEPS
from workbench.docs._heads import description_of, with_head
from workbench.docs.markdown import Page, first_sentence, plain, sections
from workbench.errors import WorkbenchError
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES
from workbench.files import cache_home
from workbench.notebooks.execution import STILL
from workbench.version import __version__

_WIDGET = "application/vnd.jupyter.widget-view+json"
_FORM = 3
"""Of executed copies: with verdicts in colors that every page shows."""
NOT_EXECUTED = (
    "```{note}\nShown without outputs: this copy of the site was built without running notebooks. `make docs` runs "
    "them once.\n```"
)
_SWEEP = re.compile(r"sweeps/([\w/]+\.yaml)")


def notebook_sources(execute: bool, heads: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, str]:
    """Return the notebooks as sources of the site, by their paths, and the page that lists them, with its head."""
    pages = {f"notebooks/{file.name}": _notebook_source(file, execute) for file in sorted(NOTEBOOKS.glob("*.ipynb"))}
    return {**pages, "notebooks/index.md": _index([Path(name).stem for name in pages], heads or {})}


def _notebook_source(file: Path, execute: bool) -> str:
    copy = executed_copy(file)
    if execute and not copy.exists():
        run_notebook(file, copy)
    kept = copy if copy.exists() else file
    notebook = _with_description(json.loads(kept.read_text(encoding="utf-8")))
    return json.dumps(_page_outputs(notebook) if copy.exists() else _with_note(notebook))


def _with_description(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook that describes its page by the first sentence of its text."""
    text = "\n\n".join(_source(cell) for cell in notebook["cells"][:6] if cell["cell_type"] == "markdown")
    paragraphs = [part for part in text.split("\n\n") if not part.startswith("**")]
    if words := description_of("\n\n".join(paragraphs)):
        notebook["metadata"]["myst"] = {"html_meta": {"description": words}}
    return notebook


def executed_copy(file: Path) -> Path:
    """Return the path of the executed copy of a notebook."""
    text = file.read_text(encoding="utf-8")
    sweeps = [(SWEEPS / name).read_text(encoding="utf-8") for name in sorted(set(_SWEEP.findall(text)))]
    what = json.dumps([_FORM, text, sweeps, __version__, _revisions("\n".join([text, *sweeps]))])
    digest = hashlib.blake2b(what.encode(), digest_size=10).hexdigest()
    return cache_home() / "notebooks" / f"{file.stem}-{digest}.ipynb"


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
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    return mock.patch.dict(os.environ, {**environment, STILL: "1", "PYTHONPATH": path}, clear=True)


def _with_note(notebook: dict[str, Any]) -> dict[str, Any]:
    note = {"cell_type": "markdown", "id": "not-executed", "metadata": {}, "source": NOT_EXECUTED}
    notebook["cells"].insert(1, note)
    return notebook


def _page_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without what a page cannot show: messages to the log, live widgets but for their picture."""
    above = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            for out in cell["outputs"]:
                _without_widget(out.get("data", {}))
                _without_empty_heads(out.get("data", {}))
            cell["outputs"] = [out for out in cell["outputs"] if _is_for_page(out)]
            if any("image/png" in out.get("data", {}) for out in cell["outputs"]):
                cell["metadata"]["mystnb"] = {"image": {"alt": _words_of_picture(_source(cell), above)}}
        elif cell["cell_type"] == "markdown":
            above = _source(cell)
    notebook["metadata"].pop("widgets", None)
    return notebook


def _source(cell: Mapping[str, Any]) -> str:
    return "".join(cell["source"])


def _words_of_picture(source: str, above: str) -> str:
    """Return the description of the figure that a cell draws, or the heading or sentence that stands above the cell."""
    known: dict[str, Any] = {**FIGURES.all(), **STUDY_FIGURES.all(), **CALCULATIONS.all()}
    named = [known[name].description for name in re.findall(r"[\"'](\w+)[\"']", source) if name in known]
    lines = [line.lstrip("# ").strip() for line in above.splitlines() if line.strip()]
    return named[0] if named else plain(first_sentence(lines[0])) if lines else "A picture of the results above"


def _without_widget(data: dict[str, Any]) -> None:
    """Leave the picture of a widget; one that has none has nothing to show."""
    if data.pop(_WIDGET, None) is not None and "image/png" not in data:
        data.clear()


def _without_empty_heads(data: dict[str, Any]) -> None:
    """Make plain cells of the headers without words, which pandas writes above the columns of a named index."""
    if "text/html" in data:
        data["text/html"] = "".join(data["text/html"]).replace("<th></th>", "<td></td>")


def _is_for_page(out: dict[str, Any]) -> bool:
    return out.get("name") != "stderr" and out.get("data") != {}


def _index(names: list[str], heads: Mapping[str, Mapping[str, Any]]) -> str:
    words = (
        "Lessons and studies, one a mechanism, with what they printed and drew. `make lab` opens them in JupyterLab."
    )
    listed = "\n".join(names)
    text = sections("# Notebooks", words, f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```")
    return with_head(Page("notebooks/index", "Notebooks", text), heads).placed()
