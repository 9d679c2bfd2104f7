"""Small elements of a page: escaped text, sentences in small print, alerts, buttons.

Texts get into a page by `escaped` alone: names of files, policies and columns may hold any character.
"""

from __future__ import annotations

import html
from collections.abc import Callable

import ipywidgets as widgets


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
