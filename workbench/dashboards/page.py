"""The page around the levers: its address, its heartbeat, undo and redo, and texts as markup.

A setting of a page is a link of what differs from how the page opens, `machine.segments=256&seeds=7`, and the address
gives it back. What takes longer is done later, when the kernel has time. Texts get into a page by `text` alone: names
of files, policies and columns may hold any character.
"""

from __future__ import annotations

import asyncio
import copy
import html
import json
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import anywidget
import ipywidgets as widgets
import traitlets

from workbench.dashboards.voila_server import ALONE
from workbench.errors import InputError


class Address(anywidget.AnyWidget):
    """Nothing to be seen: writes what is behind the `#` of the page's address, and tells what stands there."""

    _esm = Path(__file__).parent / "scripts" / "address.js"
    setting = traitlets.Unicode("").tag(sync=True)
    alone = traitlets.Bool(False).tag(sync=True)
    """Whether the page is the dashboard's own; the address of a notebook is left alone."""

    def __init__(self, opened: Callable[[str], None]) -> None:
        """Call `opened` with what the page's address says when it is loaded, or changed by hand."""
        super().__init__(alone=os.environ.get(ALONE) == "1")
        self._opened = opened
        self.on_msg(self._heard)

    def _heard(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "setting":
            self._opened(str(message["setting"]))


PATIENCE_SECONDS = 10
"""A run that takes longer has said so before, above the panels."""


class Heartbeat(anywidget.AnyWidget):
    """Nothing to be seen as long as the kernel answers: the page asks it every other second."""

    _esm = Path(__file__).parent / "scripts" / "heartbeat.js"
    alone = traitlets.Bool(False).tag(sync=True)
    """Whether the page is the dashboard's own: a notebook's cell is run again, a page is loaded again."""
    patience = traitlets.Int(PATIENCE_SECONDS).tag(sync=True)

    def __init__(self) -> None:
        super().__init__(alone=os.environ.get(ALONE) == "1")
        self.on_msg(self._heard)
        self._waits: Callable[[], None] | None = None

    def begin(self, action: Callable[[], None]) -> None:
        """Do something once a page of its own is there; in a notebook, and where no messages come, do not wait for it.

        Such a page asks for all its widgets at once, and after four seconds without an answer for each of them, which
        are thousands: a first run, which may compile for minutes, comes after that.
        """
        if self.alone and has_loop():
            self._waits = action
        else:
            Later(action).start(0)

    def _heard(self, _widget: object, _message: dict[str, Any], _pieces: object) -> None:
        self.send({"what": "here"})
        if self._waits is not None:
            Later(self._waits).start(0)
            self._waits = None


class Toolbar:
    """Buttons that are off where they would do nothing."""

    def __init__(self, undo: Callable[[], None], redo: Callable[[], None], reset: Callable[[], None]) -> None:
        self.undo = button("↶ undo", "the setting before (what is undone can be redone)", undo)
        self.redo = button("↷ redo", "the setting that was undone", redo)
        self.reset = button("as opened", "the setting with which this page opened; can be undone", reset)
        self.widget = widgets.HBox([self.undo, self.redo, self.reset])
        self.widget.add_class("wb-tools")

    def allow(self, undo: bool, redo: bool, reset: bool) -> None:
        """Let some buttons be pressed, and the others not."""
        self.undo.disabled, self.redo.disabled, self.reset.disabled = not undo, not redo, not reset


def button(words: str, meaning: str, press: Callable[[], None]) -> widgets.Button:
    """Return a button that does something when it is pressed."""
    made = widgets.Button(description=words, tooltip=meaning)
    made.on_click(lambda _: press())
    return made


def narrow_button(words: str, meaning: str, press: Callable[[], None]) -> widgets.Button:
    """Return a button that is as wide as its words."""
    made = button(words, meaning, press)
    made.layout = {"width": "auto", "flex": "0 0 auto"}
    return made


class InThread:
    """What computes in a thread while the page goes on."""

    _working: threading.Thread | None = None

    def _begin(self, action: Callable[..., None], *given: Any) -> None:
        self._working = threading.Thread(target=action, args=given, daemon=True)
        self._working.start()

    def wait(self) -> None:
        """Return when what is being computed is shown."""
        if self._working is not None:
            self._working.join()


_PLAIN = ":,[]{}"
"""What an address may hold without being escaped."""


def differences(opening: Mapping[str, Any], setting: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return what a setting has in other places than another one, by dotted path.

    Mappings of other keys differ as wholes: another policy is another value.

    >>> differences({"a": {"x": 1, "y": 2}, "b": {"z": 1}}, {"a": {"x": 1, "y": 3}, "b": {"w": 1}})
    {'a.y': 3, 'b': {'w': 1}}
    """
    result: dict[str, Any] = {}
    for key, value in setting.items():
        before, name = opening[key], f"{path}{key}"
        if isinstance(value, Mapping) and isinstance(before, Mapping) and value.keys() == before.keys():
            result |= differences(before, value, f"{name}.")
        elif value != before:
            result[name] = value
    return result


def as_link(different: Mapping[str, Any]) -> str:
    """Return differences as the part of an address behind its `#`.

    >>> as_link({"machine.segments": 256, "other.choice": "round_robin"})
    'machine.segments=256&other.choice=%22round_robin%22'
    """
    return "&".join(
        f"{path}={quote(json.dumps(value, separators=(',', ':')), _PLAIN)}" for path, value in different.items()
    )


def from_link(opening: Mapping[str, Any], link: str) -> dict[str, Any]:
    """Return the setting that a link names, on a page that opens with another.

    Raises
    ------
    InputError
        The link is none, or names what this page does not have.

    Examples
    --------
    >>> from_link({"machine": {"segments": 128}, "seeds": 20}, "machine.segments=256")
    {'machine': {'segments': 256}, 'seeds': 20}
    >>> from_link({"seeds": 20}, "sedes=3")
    Traceback (most recent call last):
    workbench.errors.InputError: the link names 'sedes', which this page does not have; nothing was changed.
    """
    setting = copy.deepcopy(dict(opening))
    for part in filter(None, link.split("&")):
        path, _, text = part.partition("=")
        _put(setting, unquote(path), _value(text, path))
    return setting


def path_of(value: Any, name: str) -> str | None:
    """Return where a key stands in plain types, the first of several; None where it does not.

    >>> path_of({"weighted": {"choices": [{"free": {}}, {"recent": {"nx": 64}}]}}, "nx")
    'weighted.choices[1].recent.nx'
    """
    if isinstance(value, Mapping):
        inner = [(f".{key}", one) for key, one in value.items()]
        if name in value:
            return name
    else:
        inner = [(f"[{place}]", one) for place, one in enumerate(value)] if isinstance(value, list) else []
    for step, one in inner:
        rest = path_of(one, name)
        if rest is not None:
            return f"{step}.{rest}".replace(".[", "[").lstrip(".")
    return None


def found(value: Any, name: str) -> Any:
    """Return what a key holds wherever it stands in plain types, the first of several; None where there is none."""
    path = path_of(value, name)
    return None if path is None else look_up(value, path)


def look_up(value: Any, path: str) -> Any:
    """Return what stands at a path in plain types."""
    for step in _steps(path):
        value = value[step]
    return value


def put(value: Any, path: str, what: Any) -> Any:
    """Return plain types with something else at a path; what was given stays as it is.

    >>> put({"a": [{"b": 1}, {"b": 2}], "c": 3}, "a[1].b", 9)
    {'a': [{'b': 1}, {'b': 9}], 'c': 3}
    """
    result = node = copy.deepcopy(value)
    *parents, last = _steps(path)
    for step in parents:
        node = node[step]
    node[last] = what
    return result


def _steps(path: str) -> list[Any]:
    return [int(place) if place else key for key, place in re.findall(r"([^.\[\]]+)(?!\])|\[(\d+)\]", path)]


def _value(text: str, path: str) -> Any:
    try:
        return json.loads(unquote(text))
    except ValueError:
        raise InputError(f"the link gives {path!r} no value that can be read; nothing was changed.") from None


def _put(setting: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    node: Any = setting
    for key in parents:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, dict) or last not in node:
        raise InputError(f"the link names {path!r}, which this page does not have; nothing was changed.")
    node[last] = value


MOST_SETTINGS = 500
"""Settings are kept; older ones are forgotten."""
DRAG_SECONDS = 1.0
"""Moves of one lever that follow each other so soon are one step."""

Setting = dict[str, Any]


class History:
    """A line of settings and where in it the page stands."""

    def __init__(self, first: Setting, clock: Callable[[], float] = time.monotonic) -> None:
        self._line, self._at, self._clock = [first], 0, clock
        self._turned: tuple[str, ...] = ()
        self._when = clock()

    @property
    def now(self) -> Setting:
        """Return the setting that the page has."""
        return self._line[self._at]

    @property
    def can_undo(self) -> bool:
        """Return whether there is an earlier setting."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Return whether there is a later one, from which `undo` came."""
        return self._at + 1 < len(self._line)

    def note(self, setting: Setting) -> None:
        """Put a setting at the end of the line; what was undone before is forgotten."""
        if setting == self.now:
            return
        turned, when = tuple(differences(self.now, setting)), self._clock()
        drags = turned == self._turned and when - self._when < DRAG_SECONDS and self.can_undo and not self.can_redo
        del self._line[self._at + (0 if drags else 1) :]
        self._line = [*self._line, setting][-MOST_SETTINGS:]
        self._at = len(self._line) - 1
        self._turned, self._when = turned, when

    def undo(self) -> Setting:
        """Go back by one setting, and return it."""
        self._at, self._turned = max(self._at - 1, 0), ()
        return self.now

    def redo(self) -> Setting:
        """Go forward by one setting, and return it."""
        self._at, self._turned = min(self._at + 1, len(self._line) - 1), ()
        return self.now


class Later:
    """Does one thing after a while, unless it is called off or put off before.

    In a notebook's kernel an event loop runs, and messages from the browser come between; where there is none (in a
    script, in a test) the thing is done at once.
    """

    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._waiting: asyncio.TimerHandle | None = None

    def start(self, seconds: float) -> None:
        """Do it in so many seconds."""
        self.cancel()
        loop = _running_loop()
        if loop is None:
            self._action()
        else:
            self._waiting = loop.call_later(seconds, self._action)

    def cancel(self) -> None:
        """Do not do it."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


def has_loop() -> bool:
    """Return whether an event loop runs here, so that something can be done later.

    >>> has_loop()
    False
    """
    return _running_loop() is not None


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def text(value: object) -> str:
    """Return a text as a page shows it, letter by letter.

    >>> text("<img src=x>")
    '&lt;img src=x&gt;'
    """
    return html.escape(str(value))


def fine(sentence: object) -> str:
    """Return a sentence in small print."""
    return f'<span class="wb-fine">{text(sentence)}</span>'


def mistake(sentence: object) -> str:
    """Return a sentence that says what is wrong; screen readers say it at once."""
    return f'<span class="wb-mistake" role="alert">{text(sentence)}</span>'
