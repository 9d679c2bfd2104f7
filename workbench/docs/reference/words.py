"""A page for every public word of the package: what `import workbench as wb` gives."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import workbench as wb
from workbench.docs.docstring import docstring_page, parsed
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import first_sentence, prose
from workbench.docs.reference.kind import Kind, crumbs


def path(name: str) -> str:
    """Return the path of a word's page."""
    return f"reference/python/{name}"


def pages() -> Iterator[Page]:
    """Yield a page for every word of `workbench.__all__`."""
    for name in wb.__all__:
        yield _page(name, getattr(wb, name))


def names() -> list[str]:
    """Return the path of every word's page."""
    return [path(name) for name in wb.__all__]


def _page(name: str, value: Any) -> Page:
    here = path(name)
    text = " ".join(parsed(value)["Summary"])
    return Page(
        here,
        name,
        sections(
            crumbs(here, ("Python", "reference/python/index")),
            f"# wb.{name}",
            _signature(name, value),
            _question(value, here),
            docstring_page(value, here),
            _methods(value, here) if isinstance(value, type) else "",
        ),
        summary=first_sentence(prose(text, here, getattr(value, "__module__", "") or "")),
        group="Bases of policies" if _asks(value) else "Words",
    )


def _asks(value: Any) -> str:
    return str(getattr(value, "question", "")) if isinstance(value, type) else ""


def _question(value: Any, here: str) -> str:
    question = _asks(value)
    there = address(here, f"reference/questions/{question}")
    return f"The base of every policy that answers the question [`{question}`]({there})." if question else ""


def _signature(name: str, value: Any) -> str:
    if isinstance(value, type) or not callable(value):
        return ""
    try:
        return code(f"wb.{name}{inspect.signature(value)}".replace("'", ""), "python")
    except (TypeError, ValueError):
        return ""


def _methods(cls: type, here: str) -> str:
    rows = [
        [f"`{name}`", first_sentence(prose(_text(member), here, cls.__module__))]
        for name, member in vars(cls).items()
        if not name.startswith("_") and _text(member)
    ]
    return sections("## Methods and properties", table(["name", "what it does"], rows)) if rows else ""


def _text(member: Any) -> str:
    callables = (staticmethod, classmethod, property)
    of = inspect.unwrap(member.__func__) if isinstance(member, (staticmethod, classmethod)) else member
    if not isinstance(member, callables) and not inspect.isfunction(of):
        return ""
    return inspect.cleandoc(of.__doc__ or "")


KIND = Kind(
    "python",
    "Python",
    "The public words of `import workbench as wb`. Each is imported when it is first used.",
    pages,
    names,
)
