"""HTML from templates: nbconvert for a notebook, less its scripts from other hosts, and Jinja for the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.errors import missing_extra
from workbench.experiments.notebooks.execute import MARK, NotebookRun

_TEMPLATES = Path(__file__).parent
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:; font-src data:; media-src data:; form-action 'none'; base-uri 'none'"
)
"""The browser itself refuses what an author's cell would fetch from elsewhere, such as a figure's library from a CDN;
what is inside the page, scripts too, works."""


class Pages:
    """What turns runs into HTML; made once a batch, for the templates are parsed once.

    Parameters
    ----------
    beside : path
        Where the notebook lies: pictures that its text names there are put into the pages.
    """

    def __init__(self, beside: Path) -> None:
        try:
            from jinja2 import Environment, FileSystemLoader
            from nbconvert import HTMLExporter
        except ImportError:
            raise missing_extra("the HTML report of a batch", "notebooks") from None
        loader = FileSystemLoader(_TEMPLATES)
        self._beside = str(beside)
        self._index = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
        self._notebook = HTMLExporter(extra_loaders=[loader], template_file="page.html.j2", embed_images=True)

    def page(self, run: NotebookRun, title: str) -> str:
        """Return the output of a run as a page of its own."""
        import nbformat

        node = nbformat.read(run.output, as_version=4)
        node.metadata.pop("widgets", None)
        mark = node.metadata.get(MARK, {})
        about = {"metadata": {"name": title, "path": self._beside}, "mark": mark, "policy": _POLICY, "named": title}
        text, _ = self._notebook.from_notebook_node(node, resources=about)
        return str(text)

    def index(self, **content: Any) -> str:
        """Return the index; every text in it is escaped."""
        return self._index.get_template("index.html.j2").render(policy=_POLICY, **content)
