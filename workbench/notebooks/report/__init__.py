"""The index of a batch, one row a run, and every notebook as a page that asks nothing of any host.

HtmlReport(folder, tasks, provenance)  .add(run) and .write(), each file written whole or not at all

HTML is made from templates: nbconvert for a notebook, less its scripts from other hosts, and Jinja for the index.
"""

from __future__ import annotations

import base64
import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workbench.errors import StoreError, missing_extra
from workbench.experiments.results_folder import refuse_foreign, write_own
from workbench.notebooks.execution import MARK, NotebookRun
from workbench.notebooks.headline import Headline, headlines, readable
from workbench.notebooks.tasks import Task

PAGES, INDEX, TABLE = "pages", "index.html", "index.csv"
FIRST, LAST = ("notebook", "output", "status"), ("seconds", "cell", "error")
"""Columns of the table before and after the parameters and the headline numbers."""
FOLDED = 60
"""A parameter whose text is longer than this many characters is folded, so that one mapping does not fill the table."""
NOT_RUN = "not run"
_STATES = {"kept": "done", "edited": "done, edited since"}


class HtmlReport:
    """The index of one batch; every page of it can be opened without a server or a network.

    Parameters
    ----------
    folder : path
        The folder of the outputs.
    tasks : sequence of Task
        All that the batch runs; one that has no run yet has its row too.
    provenance : mapping
        Versions and sources that the index names, as `environment()` gives them.

    Raises
    ------
    InputError
        nbconvert is not installed.
    StoreError
        The folder of the pages cannot be made, or one of the files is not as a batch has left it.
    """

    def __init__(self, folder: Path, tasks: Sequence[Task], provenance: Mapping[str, Any]) -> None:
        self.folder, self.tasks, self.provenance = folder, tasks, provenance
        self._runs: dict[str, NotebookRun] = {}
        self._contents: dict[str, Content] = {}
        self._pages = Pages()
        try:
            (folder / PAGES).mkdir(exist_ok=True)
        except OSError as problem:
            raise StoreError(f"{folder / PAGES} cannot be made: {problem.strerror}.") from None
        refuse_foreign(folder / PAGES, tuple(f"{task.name}.html" for task in tasks))

    def add(self, run: NotebookRun) -> None:
        """Take a run into the index, and make its page, unless there is one that is no older than the output."""
        self._runs[run.task.name] = run
        self._contents[run.task.name] = content_of(run)
        target = self.folder / PAGES / f"{run.task.name}.html"
        if not target.exists() or target.stat().st_mtime_ns < run.output.stat().st_mtime_ns:
            write_own(target, self._pages.page(run, title=titled(run.task)))

    def write(self, earlier: int = 0) -> None:
        """Write the index again, from the runs there are so far.

        Parameters
        ----------
        earlier : int
            How many outputs of other batches lie in the folder.
        """
        rows = table(self.tasks, self._runs, self._contents)
        write_own(self.folder / TABLE, _as_csv(rows, _parameter_columns(self.tasks).values()))
        text = self._pages.index(
            title=", ".join(dict.fromkeys(task.notebook.path.name for task in self.tasks)),
            sections=[self._section(name) for name in dict.fromkeys(task.notebook.path.name for task in self.tasks)],
            counts=_counts(self.tasks, self._runs),
            total=len(self.tasks),
            earlier=earlier,
            table=TABLE,
            provenance=self.provenance,
            folded=FOLDED,
        )
        write_own(self.folder / INDEX, text)

    def _section(self, name: str) -> dict[str, Any]:
        """Return the table of one notebook: its parameters, its headline numbers, a row a run."""
        tasks = [task for task in self.tasks if task.notebook.path.name == name]
        contents = [self._contents[task.name] for task in tasks if task.name in self._contents]
        parameters = list(dict.fromkeys(name for task in tasks for name in task.parameters))
        numbers = list(dict.fromkeys(name for content in contents for name in content.headlines))
        rows = [self._row(task, parameters, numbers) for task in tasks]
        digest = tasks[0].notebook.digest
        return {"name": name, "parameters": parameters, "numbers": numbers, "rows": rows, "digest": digest}

    def _row(self, task: Task, parameters: Iterable[str], numbers: Iterable[str]) -> dict[str, Any]:
        content = self._contents.get(task.name, Content({}, []))
        recorded = content.headlines
        return {
            "name": task.name,
            "page": f"{PAGES}/{task.name}.html",
            "run": self._runs.get(task.name),
            "state": state(self._runs.get(task.name)),
            "parameters": [as_text(task.parameters[name]) if name in task.parameters else "" for name in parameters],
            "numbers": [readable(recorded[name]) if name in recorded else "" for name in numbers],
            "figures": content.figures,
        }


def table(
    tasks: Iterable[Task], runs: Mapping[str, NotebookRun], contents: Mapping[str, Content]
) -> list[dict[str, Any]]:
    """Return the rows of the table: a notebook's parameters and headline numbers under their names.

    A parameter that is called like a column, and a headline number that is called like one or like a parameter, has
    what it is before its name: `parameter.status`, `headline.seeds`.
    """
    tasks = list(tasks)
    columns = _parameter_columns(tasks)
    taken = {*FIRST, *LAST, *columns}
    rows = []
    for task in tasks:
        run = runs.get(task.name)
        outcome = (run.output.name, state(run)) if run else ("", NOT_RUN)
        row: dict[str, Any] = dict(zip(FIRST, (task.notebook.path.name, *outcome)))
        row |= {columns[name]: value for name, value in task.parameters.items()}
        numbers = contents[task.name].headlines if task.name in contents else {}
        row |= {f"headline.{name}" if name in taken else name: value for name, value in numbers.items()}
        row |= dict(zip(LAST, (round(run.seconds, 3), run.cell or "", run.error) if run else ("", "", "")))
        rows.append(row)
    return rows


def _parameter_columns(tasks: Iterable[Task]) -> dict[str, str]:
    """Return the column of each parameter."""
    names = dict.fromkeys(name for task in tasks for name in task.parameters)
    return {name: f"parameter.{name}" if name in (*FIRST, *LAST) else name for name in names}


def _as_csv(rows: Sequence[Mapping[str, Any]], parameters: Iterable[str]) -> str:
    columns = dict.fromkeys([*FIRST, *parameters, *(name for row in rows for name in row if name not in LAST), *LAST])
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: as_text(value) for name, value in row.items()} for row in rows)
    return buffer.getvalue()


def titled(task: Task) -> str:
    """Return a run as a person calls it: the notebook, and the parameters that were set, the long ones shortened."""
    texts = {name: as_text(value) for name, value in task.parameters.items()}
    short = {name: text if len(text) <= FOLDED else f"{text[: FOLDED // 2]}…" for name, text in texts.items()}
    stem = task.notebook.path.stem
    return f"{stem}: {', '.join(f'{name} {text}' for name, text in short.items())}" if short else stem


def state(run: NotebookRun | None) -> str:
    """Return the text of a row: a notebook that an earlier batch had finished is done like any other."""
    return NOT_RUN if run is None else _STATES.get(run.status, run.status)


def _counts(tasks: Sequence[Task], runs: Mapping[str, NotebookRun]) -> dict[str, int]:
    states = [state(runs.get(task.name)).partition(",")[0] for task in tasks]
    return {name: states.count(name) for name in ("done", "failed", NOT_RUN)}


def as_text(value: Any) -> str:
    """Return a parameter as the table shows it: text as it is, anything else as JSON in one line.

    >>> as_text("first_fit"), as_text({"nearest_boundary": {"tie": "high"}}), as_text(True)
    ('first_fit', '{"nearest_boundary": {"tie": "high"}}', 'true')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
        """Return the output of a run as a page of its own; pictures in the notebook's folder are put into it."""
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
