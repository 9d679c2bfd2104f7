"""The one way in which texts get into a page: names of files, policies and columns may hold any character."""

from __future__ import annotations

import html


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
