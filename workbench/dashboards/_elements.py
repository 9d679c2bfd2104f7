"""Small elements of a page: escaped text, numbers, sentences in small print, alerts, buttons.

Texts get into a page by `escaped` alone: names of files, policies and columns may hold any character.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable

import ipywidgets as widgets

from workbench.number_text import bytes_said, number


def escaped(value: object) -> str:
    """Return a text as a page shows it, letter by letter.

    >>> escaped("<img src=x>")
    '&lt;img src=x&gt;'
    """
    return html.escape(str(value))


def small_print(sentence: object) -> str:
    """Return a sentence in small print."""
    return f'<span class="wb-fine">{escaped(sentence)}</span>'


def alert(sentence: object) -> str:
    """Return a sentence that says what is wrong; screen readers say it at once."""
    return f'<span class="wb-mistake" role="alert">{escaped(sentence)}</span>'


def in_unit(value: float, unit: str) -> str:
    """Return a number of some unit as a table shows it: bytes in the unit that a person reads.

    >>> in_unit(3_661_627_392, "bytes"), in_unit(-1536, "bytes"), in_unit(16113.25, "cycles")
    ('3.41 GiB', '-1.5 KiB', '16,113')
    """
    if unit != "bytes" or not math.isfinite(value):
        return number(value)
    return f"{'-' if value < 0 else ''}{bytes_said(abs(value))}"


def button(words: str, meaning: str, press: Callable[[], None]) -> widgets.Button:
    """Return a button that does something when it is pressed."""
    result = widgets.Button(description=words, tooltip=meaning)
    result.on_click(lambda _: press())
    return result


def narrow_button(words: str, meaning: str, press: Callable[[], None]) -> widgets.Button:
    """Return a button that is as wide as its words."""
    result = button(words, meaning, press)
    result.layout = {"width": "auto", "flex": "0 0 auto"}
    return result
