"""The specifications as pages of the site: every item keeps its anchor, links between them lead to built pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from workbench.docs.folders import ROOT, SPECIFICATION
from workbench.docs.page import Page, address
from workbench.docs.rewrite import rewritten
from workbench.docs.spec_links import linked


def pages() -> Iterator[Page]:
    """Yield the pages of the specification, their order of reading below the first."""
    files = sorted(SPECIFICATION.glob("*.md"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        here = f"specification/{file.stem}"
        number = int(file.stem[0]) if file.stem[0].isdigit() else None
        body = rewritten(text, here, file.parent.relative_to(ROOT))
        body = linked(body, lambda page, here=here: address(here, page), number)  # type: ignore[misc]
        yield Page(here, title, body + (_contents(files) if file.stem == "index" else ""))


def _contents(files: list[Path]) -> str:
    names = "\n".join(file.stem for file in files if file.stem != "index")
    return f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def anchors(page: str) -> list[str]:
    """Return the anchors of a page of the specification, in their order."""
    return re.findall(r'<a id="([^"]+)"></a>', page)
