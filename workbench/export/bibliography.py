"""`references.bib`: what a sweep rests on, for BibTeX; each entry says which part of the sweep it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.export.cited import Cited
from workbench.export.escape import comment, escape

_AS_IT_IS = ("url", "eprint", "archiveprefix", "year", "volume", "number")
_HEAD = """\
% What the sweep of this bundle rests on: the sources that its policies, workloads and machines name, and its traces.
"""


def bibliography(entries: Sequence[Cited]) -> str:
    """Return the file's whole text, entries by their keys."""
    return _HEAD + "".join(f"\n{_entry(one)}" for one in entries)


def _entry(one: Cited) -> str:
    work = one.work
    fields = "".join(f"  {name} = {{{_value(name, text)}}},\n" for name, text in work.fields.items())
    return f"{comment('for ' + ', '.join(one.of))}\n@{work.kind}{{{work.key},\n{fields}}}\n"


def _value(name: str, text: str) -> str:
    if name in _AS_IT_IS:
        return text
    if name == "author":
        return " ".join(_author(word) for word in text.split(" "))
    return f"{{{escape(text)}}}" if name == "title" else escape(text)


def _author(word: str) -> str:
    """Return a word of the authors, its letters escaped and BibTeX's braces kept."""
    inside = escape(word.strip("{}")) if word.strip("{}") else ""
    opened, closed = "{" if word.startswith("{") else "", "}" if word.endswith("}") else ""
    return f"{opened}{inside}{closed}"
