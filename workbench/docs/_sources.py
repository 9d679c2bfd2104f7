"""Pages of the site that are written by hand, and the specifications.

Pages written by hand are those of `docs/pages`, and texts of the project that are pages as they stand. In a page
`{{drawing NAME}}` stands for a drawing, `{{include FILE begin .. end}}` for a part of a file of the project and
`{{table NAME}}` for a table that the code makes; each on a line of its own. Numbers and words of the kept verdicts are
within a line: `{{count H1.7 for}}`, `{{estimate H1.1 CASE}}`, `{{case H1.1 CASE}}`, `{{verdicts H1.3 H1.9}}` and
`{{run seeds}}`, and so are facts of the project: `{{fact version}}`. `{{output COMMAND}}` is what a command
prints, on a line of its own. Every item of a specification keeps its anchor. Links lead to a built page, or to a file
by its name.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from workbench.docs import PAGES, ROOT, SPECIFICATION
from workbench.docs._facts import citation, extras, fact, probes_table, proofs_table, speed_table
from workbench.docs._outputs import with_outputs
from workbench.docs.drawings import drawn
from workbench.docs.kept_verdicts import case_line, count, estimate, of_run
from workbench.docs.lever_table import group_file_table
from workbench.docs.markdown import Page, code, ref, sections, table, toctree
from workbench.docs.reference.claims import (
    claim_kinds,
    claims_table,
    statistics,
    verdict_summary,
    verdict_words,
    verdicts_on,
)
from workbench.docs.reference.figures import gallery_cards
from workbench.docs.reference.validation import conclusions_table, validation_tables
from workbench.docs.spec_links import SPEC_OF, linked
from workbench.former_modules import moved

_MARK = re.compile(r"^\{\{(?P<what>\w+) (?P<rest>[^}]*)\}\}$", re.MULTILINE)
_LINK = re.compile(r"(?P<bang>!?)\[(?P<words>[^\[\]]*)\]\((?P<target>[^()\s]+)\)")

BUILT = {
    "README.md": "index",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changes",
    "docs/statistics.md": "statistics",
    "docs/translation-rules.md": "mechanisms/translation-rules",
    "data/verdict/verdict.md": "verdict/index",
    "data/verdict/cases.csv": "verdict/index",
}
"""Files of the project that are pages of the site."""

TABLES: dict[str, Callable[[], str]] = {
    "verdict": verdict_summary,
    "claims": claims_table,
    "words": verdict_words,
    "kinds": claim_kinds,
    "statistics": statistics,
    "gallery": gallery_cards,
    "validation": validation_tables,
    "conclusions": conclusions_table,
    "group_file": group_file_table,
    "former_modules": lambda: former_modules_table(),
    "extras": extras,
    "citation": citation,
    "speed": speed_table,
    "proofs": proofs_table,
    "probes": probes_table,
    "deviations": lambda: "\n".join(f"- {ref(name, f'deviations/{name}')}" for name in deviations()),
}
"""What `{{table NAME}}` stands for."""

WORDS: dict[str, Callable[[str], str]] = {
    "count": lambda rest: count(*rest.split(" ", 1)),
    "estimate": lambda rest: estimate(*rest.split(" ", 1)),
    "case": lambda rest: case_line(*rest.split(" ", 1)),
    "verdicts": verdicts_on,
    "run": of_run,
    "fact": fact,
}
"""What stands for a number or a few words within a line."""
_WORD = re.compile(rf"\{{\{{(?P<what>{'|'.join(WORDS)}) (?P<rest>[^}}]*)\}}\}}")


def handwritten_pages(run: bool = True) -> Iterator[Page]:
    """Yield every page that is written by hand, with its drawings, its links and what its commands print.

    Without `run`, no command runs: only outputs that are kept are shown.
    """
    for file in sorted(PAGES.rglob("*.md")):
        here = file.relative_to(PAGES).with_suffix("").as_posix()
        text = with_outputs(file.read_text(encoding="utf-8"), run)
        yield page(here, text, file.parent.relative_to(ROOT))
    for name, here in BUILT.items():
        file = ROOT / name
        if not (PAGES / f"{here}.md").exists() and file.is_file() and name.endswith(".md"):
            yield page(here, file.read_text(encoding="utf-8"), file.parent.relative_to(ROOT))
    for name, file in deviations().items():
        text = file.read_text(encoding="utf-8")
        words = f"What the engines of {name} do in another way than the specification or the card, and why."
        yield page(f"deviations/{name}", text, Path(), name)._replace(orphan=True, description=words)


def deviations() -> dict[str, Path]:
    """Return the lists of what departs from the specifications, by space."""
    return {file.parent.name: file for file in sorted((ROOT / "workbench").rglob("DEVIATIONS.md"))}


def former_modules_table() -> str:
    """Return the table of the modules that moved since 0.5."""
    rows = ([f"`{former}`", ", ".join(f"`{name}`" for name in names)] for former, names in moved().items())
    return table(["0.5", "now"], rows)


def page(here: str, text: str, folder: Path, room: str = "") -> Page:
    """Return a page of a text of the project."""
    title = next((line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")), here)
    filled = _WORD.sub(lambda match: WORDS[match["what"]](match["rest"].strip()), text)
    body = linked(rewritten(filled, folder), SPEC_OF.get(room))
    return Page(here, title, _MARK.sub(lambda match: _filled(match, here), body))


def _filled(match: re.Match[str], here: str) -> str:
    what, rest = match["what"], match["rest"].strip()
    if what == "drawing":
        return drawn(rest)
    if what == "table":
        return TABLES[rest]()
    if what == "file":
        return code((ROOT / rest).read_text(encoding="utf-8"), "yaml" if rest.endswith(".yaml") else "text")
    if what == "include":
        return included(rest, here)
    if what in ("output", "script"):
        return with_outputs(match[0], run=False)
    raise KeyError(f"{here}: there is no {what!r} to fill in")


def included(what: str, here: str) -> str:
    """Return a section of a Markdown file: `README.md ## Your own policy` is all below that heading.

    A sentence that begins with a link to the page itself is left out.
    """
    name, _, heading = what.partition(" ")
    text = (ROOT / name).read_text(encoding="utf-8")
    level = heading.partition(" ")[0]
    _, mark, after = text.partition(f"\n{heading}\n")
    if not mark:
        raise KeyError(f"{here}: {name} has no heading {heading!r}")
    end = re.search(rf"^#{{1,{len(level)}}} ", _outside_of_code(after), re.MULTILINE)
    body = rewritten(after[: end.start()] if end else after, Path(name).parent)
    return linked(re.sub(rf"(?<=[.\n])\s*\[[^\]]*\]\(site:{re.escape(here)}\.html\)[^.]*\.", "", body))


def _outside_of_code(text: str) -> str:
    """Return a text of the same length in which no line of code can pass for a heading."""
    return re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", "x", match[0]), text, flags=re.MULTILINE | re.DOTALL)


def specification_pages() -> Iterator[Page]:
    """Yield the pages of the specification, their order of reading below the first."""
    files = sorted(SPECIFICATION.glob("*.md"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        here = f"specification/{file.stem}"
        number = int(file.stem[0]) if file.stem[0].isdigit() else None
        body = linked(rewritten(text, file.parent.relative_to(ROOT)), number)
        others = [f"specification/{other.stem}" for other in files if other != file]
        words = f"What the source document requires, item by item: {title}."
        full = sections(body, toctree(others) if file.stem == "index" else "")
        yield Page(here, title, full, description=words)


def rewritten(text: str, folder: Path) -> str:
    """Return a text whose links lead to pages of the site.

    Parameters
    ----------
    text : str
        Markdown.
    folder : Path
        Where the text stands in the project, from its root.
    """
    return _LINK.sub(lambda match: _link(match, PurePosixPath(folder.as_posix())), text)


def _link(match: re.Match[str], folder: PurePosixPath) -> str:
    target, mark, anchor = match["target"].partition("#")
    if ":" in target or not target:
        return match[0]
    place = posixpath.normpath(str(folder / target))
    if match["bang"] and place.startswith("docs/pictures/"):
        return f"![{match['words']}](/{place.removeprefix('docs/')})"
    if (page := _built_page(place)) is not None:
        return ref(match["words"], f"{page}{mark}{anchor}")
    return match["words"] if match["words"].startswith("`") else f"{match['words']} (`{place}`)"


def _built_page(place: str) -> str | None:
    if place in BUILT:
        return BUILT[place]
    if place.endswith("DEVIATIONS.md"):
        return f"deviations/{PurePosixPath(place).parent.name}"
    if place.startswith("notebooks/") and place.endswith(".ipynb"):
        return place.removesuffix(".ipynb")
    inside = place.removesuffix(".md")
    for folder in ("docs/pages/", "docs/"):
        if place.endswith(".md") and inside.startswith(folder):
            return inside.removeprefix(folder)
    return None
