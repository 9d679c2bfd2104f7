"""Links of a text of the project as links of the site: to a built page, or to a file, which is named."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path, PurePosixPath

from workbench.docs.page import address

_LINK = re.compile(r"(?P<bang>!?)\[(?P<words>[^\[\]]*)\]\((?P<target>[^()\s]+)\)")
BUILT = {
    "README.md": "index",
    "CONTRIBUTING.md": "recipes",
    "CHANGELOG.md": "changes",
    "docs/statistics.md": "statistics",
    "docs/translation-rules.md": "mechanisms/translation-rules",
    "data/verdict/verdict.md": "verdict/index",
    "data/verdict/cases.csv": "verdict/index",
}
"""Files of the project that are pages of the site."""


def rewritten(text: str, here: str, folder: Path) -> str:
    """Return a text whose links lead to pages of the site.

    Parameters
    ----------
    text : str
        Markdown.
    here : str
        The path of the page that it becomes.
    folder : Path
        Where the text stands in the project, from its root.
    """
    return _LINK.sub(lambda match: _link(match, here, PurePosixPath(folder.as_posix())), text)


def _link(match: re.Match[str], here: str, folder: PurePosixPath) -> str:
    target, mark, anchor = match["target"].partition("#")
    if ":" in target or not target:
        return match[0]
    place = posixpath.normpath(str(folder / target))
    if match["bang"] and place.startswith("docs/pictures/"):
        up = "../" * here.count("/")
        return f"![{match['words']}]({up}pictures/{place.removeprefix('docs/pictures/')})"
    if (page := _page(place)) is not None:
        return f"[{match['words']}]({address(here, page)}{mark}{anchor})"
    return match["words"] if match["words"].startswith("`") else f"{match['words']} (`{place}`)"


def _page(place: str) -> str | None:
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
