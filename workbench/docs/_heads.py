"""What stands in the head of a page: its description, and the words that a reader types to find it.

`docs/heads.yaml` has both by page. A page that is not in it is described by its summary or its first sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from workbench.docs import DOCS
from workbench.docs.markdown import Page, first_sentence, plain

HEADS = DOCS / "heads.yaml"
MOST_LETTERS = 160
"""Upper bound on the letters of a description: search engines cut longer ones."""


def page_heads() -> dict[str, dict[str, Any]]:
    """Return the heads of pages by their paths."""
    heads = yaml.safe_load(HEADS.read_text(encoding="utf-8"))
    return {str(path): head for path, head in heads.items()}


def with_head(page: Page, heads: Mapping[str, Mapping[str, Any]]) -> Page:
    """Return a page with its description and its keywords; its own are left out where another page has them."""
    head = heads.get(page.path, {})
    taken = {str(word) for other in heads.values() for word in other.get("keywords", ())}
    own = [word for word in page.keywords if word not in taken]
    words = str(head.get("description") or page.description or page.summary)
    return page._replace(
        description=_cut(plain(words)) or description_of(page.text) or page.title,
        keywords=tuple(dict.fromkeys([*head.get("keywords", ()), *own])),
        orphan=page.orphan or bool(head.get("orphan")),
    )


def description_of(text: str) -> str:
    """Return the first sentence of a text as a description."""
    return _cut(plain(_opening(text)))


def _opening(text: str) -> str:
    """Return the first sentence of the first paragraph that is prose."""
    blocks = re.sub(r"```.*?```", "", text, flags=re.DOTALL).split("\n\n")
    prose = (block for block in blocks if re.match(r"[A-Z`\[]", block.strip()))
    return first_sentence(next(prose, ""))


def _cut(text: str) -> str:
    """Return a text of at most so many letters, cut between words.

    >>> len(_cut("word " * 40)) <= MOST_LETTERS
    True
    """
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 4].rpartition(" ")[0] + " ..."
