"""The first state of each page as it was recorded: shown until this machine has runs of its own.

`python -m docs.record_dashboards` records them; a test compares them with what the pages compute.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ipywidgets import Box, Widget

from workbench.dashboards._canvas import CanvasWidget

_FOLDER = Path(__file__).with_name("recorded")
_BYTES = "base64"


class Recorded(NamedTuple):
    """What a page shows once its first runs are done."""

    scenes: list[dict[str, Any]]
    """Of its canvases, from top to bottom."""
    table: str
    """The table of measures, as HTML."""
    picture: str
    """A PNG of the comparison, in base64."""


def recorded(engine: str) -> Recorded | None:
    """Return the recorded state of a page; None for a page without one."""
    path = _path(engine)
    if not path.is_file():
        return None
    return Recorded(**_from_plain(json.loads(gzip.decompress(path.read_bytes()))))


def record(engine: str, state: Recorded) -> Path:
    """Write the state of a page, and return the file."""
    path = _path(engine)
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(_to_plain(state._asdict()), separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def canvases(widget: Widget) -> Iterator[CanvasWidget]:
    """Yield the canvases within a widget, from top to bottom."""
    if isinstance(widget, CanvasWidget):
        yield widget
    elif isinstance(widget, Box):
        for child in widget.children:
            yield from canvases(child)


def _path(engine: str) -> Path:
    return _FOLDER / f"{engine}.json.gz"


def _to_plain(value: Any) -> Any:
    """Return a value as JSON holds it: bytes as text."""
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {key: _to_plain(inner) for key, inner in value.items()}
    return [_to_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {_BYTES}:
            return base64.b64decode(value[_BYTES])
        return {key: _from_plain(inner) for key, inner in value.items()}
    return [_from_plain(inner) for inner in value] if isinstance(value, list) else value
