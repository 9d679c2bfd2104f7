"""Text of docstrings and declarations as Markdown: what is in backticks is code, all else means itself."""

from __future__ import annotations

import re

from workbench.docs.page import address
from workbench.docs.spec_links import ROOMS, linked

_CODE = re.compile(r"(`[^`\n]*`)")
_ADDRESS = re.compile(r"(?<![(<])\bhttps?://[^\s)>\]]*[^\s)>\].,;]")


def escaped(text: str) -> str:
    """Return a text in which no character but the backtick has a meaning for Markdown.

    >>> escaped("a*b < `c*d` [1]")
    'a\\\\*b \\\\< `c*d` \\\\[1\\\\]'
    """
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]#$~])", r"\\\1", part) for part in parts)


def prose(text: str, here: str, module: str = "") -> str:
    """Return a paragraph as Markdown, its references to specifications and addresses linked.

    Parameters
    ----------
    text : str
        One or more paragraphs.
    here : str
        The path of the page that it stands on.
    module : str
        The module that it comes from: its room tells the specification of numbers without one.
    """
    clean = escaped(text.replace("``", "`"))
    linked_addresses = _ADDRESS.sub(lambda match: f"<{match[0].replace(chr(92), '')}>", clean)
    return linked(linked_addresses, lambda page: address(here, page), room_of(module))


def room_of(module: str) -> int | None:
    """Return the specification of a module's room.

    >>> room_of("workbench.policies.dispatch.choice.packing"), room_of("workbench.figures.pareto")
    (3, None)
    """
    words = module.split(".")
    if words[:1] != ["workbench"] or words[1:2] not in (["policies"], ["engines"], ["pool_service"]):
        return None
    return next((ROOMS[word] for word in words if word in ROOMS), None)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text on one line.

    >>> first_sentence("Take the lowest. Then\\nthe next.")
    'Take the lowest.'
    """
    line = " ".join((text or "").split("\n\n")[0].split())
    end = re.search(r"(?<!e\.g)(?<!i\.e)(?<!Em)(?<!vs)\.(?=\s+[A-Z`])", line)
    return line[: end.end()] if end else line
