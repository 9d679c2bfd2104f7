"""Every link between pages of the built site, and whether something is there."""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

_HREF = re.compile(r'<a\b[^>]*?\shref="([^"]+)"|<(?:img|script)\b[^>]*?\ssrc="([^"]+)"|<link\b[^>]*?\shref="([^"]+)"')
_ID = re.compile(r'\bid="([^"]+)"')


def dead_links(html: Path) -> list[str]:
    """Return the links of a built site that lead to no file or to no anchor, as `page: link`."""
    anchors = functools.cache(lambda path: _anchors(path))
    dead = []
    for page in sorted(html.rglob("*.html")):
        for link in _links(page.read_text(encoding="utf-8")):
            if not _is_alive(page, link, anchors):
                dead.append(f"{page.relative_to(html)}: {link}")
    return sorted(set(dead))


def _links(text: str) -> Iterator[str]:
    for match in _HREF.finditer(text):
        link = next(filter(None, match.groups()))
        if not re.match(r"\w+:|//", link):
            yield unquote(link.replace("&amp;", "&"))


def _anchors(path: Path) -> frozenset[str]:
    return frozenset(_ID.findall(path.read_text(encoding="utf-8"))) if path.is_file() else frozenset()


def _is_alive(page: Path, link: str, anchors: functools._lru_cache_wrapper[frozenset[str]]) -> bool:
    target, _, anchor = link.partition("#")
    target = target.partition("?")[0]
    place = page.parent / posixpath.normpath(target) if target else page
    place = Path(posixpath.normpath(place.as_posix()))
    if not place.exists():
        return False
    return not anchor or anchor in anchors(place)


def outside(html: Path) -> list[str]:
    """Return what pages would fetch from elsewhere: scripts, styles, fonts and pictures with an address."""
    fetched = re.compile(
        r'<(?:img|script|iframe)\b[^>]*\ssrc="((?:https?:)?//[^"]+)"|<link\b[^>]*\shref="(https?://[^"]+)"'
    )
    style = re.compile(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)")
    result = []
    for page in sorted([*html.rglob("*.html"), *html.rglob("*.css")]):
        text = page.read_text(encoding="utf-8")
        pattern = style if page.suffix == ".css" else fetched
        result += [
            f"{page.relative_to(html)}: {next(filter(None, match.groups()))}" for match in pattern.finditer(text)
        ]
    return result
