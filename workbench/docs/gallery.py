"""The gallery: every figure that has a picture, each a card that leads to the sweep behind it."""

from __future__ import annotations

import html
from typing import Any

from workbench.docs.page import address
from workbench.docs.reference.figures import GALLERY, path
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES


def cards(here: str) -> str:
    """Return the cards of all figures with a picture."""
    known: dict[str, Any] = {**STUDY_FIGURES.all(), **CALCULATIONS.all(), **FIGURES.all()}
    names = [name for name in known if (GALLERY / f"{name}.png").exists()]
    inside = "\n".join(_card(name, known[name].description, here) for name in sorted(names))
    return f'```{{raw}} html\n<div class="gallery">\n{inside}\n</div>\n```'


def _card(name: str, description: str, here: str) -> str:
    up, words = "../" * here.count("/"), html.escape(description)
    picture = f'<img src="{up}_static/gallery/{name}.png" alt="{words}" loading="lazy">'
    return f'<a class="card" href="{address(here, path(name))}">{picture}<b>{name}</b><span>{words}</span></a>'
