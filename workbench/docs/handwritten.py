"""Pages written by hand: those of `docs/pages`, and texts of the project that are pages as they stand.

In a page `{{drawing NAME}}` stands for a drawing, `{{include FILE begin .. end}}` for a part of a file of the project
and `{{table NAME}}` for a table that the code makes; each on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench.docs import gallery, verdict
from workbench.docs.drawings import drawn
from workbench.docs.folders import PAGES, ROOT
from workbench.docs.page import Page, address, code
from workbench.docs.rewrite import BUILT, rewritten
from workbench.docs.spec_links import linked

_MARK = re.compile(r"^\{\{(?P<what>\w+) (?P<rest>[^}]*)\}\}$", re.MULTILINE)
TABLES: dict[str, Callable[[str], str]] = {
    "verdict": verdict.summary,
    "claims": verdict.claims_table,
    "words": verdict.words,
    "kinds": verdict.kinds,
    "gallery": gallery.cards,
    "deviations": lambda here: "\n".join(f"- [{name}]({address(here, f'deviations/{name}')})" for name in deviations()),
}
"""What `{{table NAME}}` stands for, given the page that it stands on."""


def pages() -> Iterator[Page]:
    """Yield every page that is written by hand, with its drawings and its links."""
    for file in sorted(PAGES.rglob("*.md")):
        here = file.relative_to(PAGES).with_suffix("").as_posix()
        yield page(here, file.read_text(encoding="utf-8"), file.parent.relative_to(ROOT))
    for name, here in BUILT.items():
        file = ROOT / name
        if not (PAGES / f"{here}.md").exists() and file.is_file() and name.endswith(".md"):
            yield page(here, file.read_text(encoding="utf-8"), file.parent.relative_to(ROOT))
    for name, file in deviations().items():
        yield page(f"deviations/{name}", "---\norphan: true\n---\n\n" + file.read_text(encoding="utf-8"), Path(), name)


def deviations() -> dict[str, Path]:
    """Return the lists of what departs from the specifications, by room."""
    return {file.parent.name: file for file in sorted((ROOT / "workbench").rglob("DEVIATIONS.md"))}


def page(here: str, text: str, folder: Path, room: str = "") -> Page:
    """Return a page of a text of the project."""
    from workbench.docs.spec_links import ROOMS

    title = next((line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")), here)
    body = linked(rewritten(text, here, folder), lambda there: address(here, there), ROOMS.get(room))
    return Page(here, title, _MARK.sub(lambda match: _filled(match, here), body))


def _filled(match: re.Match[str], here: str) -> str:
    rest = match["rest"].strip()
    if match["what"] == "drawing":
        return drawn(rest)
    if match["what"] == "table":
        return TABLES[rest](here)
    if match["what"] == "file":
        return code((ROOT / rest).read_text(encoding="utf-8"), "yaml")
    if match["what"] == "include":
        return included(rest, here)
    raise KeyError(f"{here}: there is no {match['what']!r} to fill in")


def included(what: str, here: str) -> str:
    """Return a section of a Markdown file: `CONTRIBUTING.md ## Add a policy` is all below that heading."""
    name, _, heading = what.partition(" ")
    text = (ROOT / name).read_text(encoding="utf-8")
    level = heading.partition(" ")[0]
    _, mark, after = text.partition(f"\n{heading}\n")
    if not mark:
        raise KeyError(f"{here}: {name} has no heading {heading!r}")
    end = re.search(rf"^#{{1,{len(level)}}} ", _outside_of_code(after), re.MULTILINE)
    body = after[: end.start()] if end else after
    return linked(rewritten(body, here, Path(name).parent), lambda there: address(here, there))


def _outside_of_code(text: str) -> str:
    """Return a text of the same length in which no line of code can pass for a heading."""
    return re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", "x", match[0]), text, flags=re.MULTILINE | re.DOTALL)
