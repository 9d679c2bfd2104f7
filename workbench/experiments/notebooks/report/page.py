"""HTML from templates: nbconvert for a notebook, less its scripts from other hosts, and Jinja for the index."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import missing_extra
from workbench.experiments.notebooks.execute import MARK, NotebookRun
from workbench.experiments.notebooks.headline import Headline, headlines

_TEMPLATES = Path(__file__).parent
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "img-src data: blob:; font-src data:; media-src data:; form-action 'none'; base-uri 'none'"
)
"""The browser itself refuses what an author's cell would fetch from elsewhere, such as a figure's library from a CDN;
what is inside the page, scripts too, works."""
THUMBNAIL = (240, 160)
"""Pixels of a figure's picture in the index, which shows it at half of them."""


class Figure(NamedTuple):
    """A small picture of a figure, and the cell of the page that shows it."""

    cell: str
    source: str


class Content(NamedTuple):
    """What the index shows of an output."""

    headlines: dict[str, Headline]
    figures: list[Figure]


class Pages:
    """What turns runs into HTML; made once a batch, for the templates are parsed once."""

    def __init__(self) -> None:
        try:
            from jinja2 import Environment, FileSystemLoader
            from nbconvert import HTMLExporter
        except ImportError:
            raise missing_extra("the index of a batch of notebooks", "notebooks") from None
        loader = FileSystemLoader(_TEMPLATES)
        self._index = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
        self._notebook = HTMLExporter(extra_loaders=[loader], template_file="page.html.j2", embed_images=True)

    def page(self, run: NotebookRun, title: str) -> str:
        """Return the output of a run as a page of its own; pictures that lie beside the notebook are put into it."""
        import nbformat

        node = nbformat.read(run.output, as_version=4)
        node.metadata.pop("widgets", None)
        beside, mark = str(run.task.notebook.path.parent), node.metadata.get(MARK, {})
        about = {"metadata": {"name": title, "path": beside}, "mark": mark, "policy": _POLICY, "named": title}
        text, _ = self._notebook.from_notebook_node(node, resources=about)
        return str(text)

    def index(self, **content: Any) -> str:
        """Return the index; every text in it is escaped."""
        return self._index.get_template("index.html.j2").render(policy=_POLICY, **content)


def content_of(run: NotebookRun) -> Content:
    """Return the headline numbers that an output records, and its figures made small."""
    import nbformat

    node = nbformat.read(run.output, as_version=4)
    pictures = (
        (cell.get("id", ""), output.data["image/png"])
        for cell in node.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    )
    small = (Figure(cell, _thumbnail(picture)) for cell, picture in pictures)
    return Content(headlines(node), [figure for figure in small if figure.source])


def _thumbnail(picture: Any) -> str:
    """Return a picture made small as the address of itself; empty where it is none."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
            small = image.convert("RGBA")
        small.thumbnail(THUMBNAIL)
        white = Image.new("RGB", small.size, "white")
        white.paste(small, mask=small)
        buffer = io.BytesIO()
        white.save(buffer, "PNG", optimize=True)
    except Exception:  # whatever a cell has displayed under this name, the index does without
        return ""
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
