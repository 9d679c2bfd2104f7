"""A docstring in NumPy's form as Markdown."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

from workbench.docs.page import code, sections, table
from workbench.docs.prose import prose

_TABLES = ("Parameters", "Returns", "Yields", "Raises", "Attributes")


def docstring_page(of: Any, here: str, whole: bool = True) -> str:
    """Return what a class or function says of itself: prose and tables; of the whole also references and examples."""
    parts = parsed(of)
    module = getattr(of, "__module__", "") or ""
    body = "\n".join([*parts["Summary"], "", *parts["Extended Summary"]])
    return sections(
        _paragraphs(body, here, module),
        *(_table(name, parts[name], here, module) for name in _TABLES),
        _titled("Notes", _paragraphs("\n".join(parts["Notes"]), here, module)),
        *((references(of, here), example(of)) if whole else ()),
    )


def references(of: Any, here: str) -> str:
    """Return where something comes from: its `References`."""
    parts = parsed(of)
    return _titled("References", _paragraphs("\n".join(parts["References"]), here, getattr(of, "__module__", "") or ""))


def example(of: Any) -> str:
    """Return the example of a docstring; empty where it has none. All of them are run as tests."""
    lines = parsed(of)["Examples"]
    text = "\n".join(line.partition("  # doctest:")[0] for line in lines)
    return _titled("Example", code(text, "pycon")) if text.strip() else ""


def parsed(of: Any) -> Any:
    """Return the sections of a docstring by name; something without one has empty sections."""
    from numpydoc.docscrape import NumpyDocString

    text = inspect.cleandoc(_own_docstring(of))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return NumpyDocString(_examples_in_a_section(text))


def _own_docstring(of: Any) -> str:
    return (vars(of).get("__doc__") if isinstance(of, type) else getattr(of, "__doc__", "")) or ""


def _examples_in_a_section(text: str) -> str:
    """Let an example that simply stands below the words be one of the section `Examples`."""
    if "Examples\n---" in text or ">>>" not in text:
        return text
    before, mark, after = text.partition(">>>")
    return f"{before.rstrip()}\n\nExamples\n--------\n{mark}{after}"


def _paragraphs(text: str, here: str, module: str) -> str:
    return "\n\n".join(_blocks(text, here, module))


def _blocks(text: str, here: str, module: str) -> Iterator[str]:
    """Yield the paragraphs of a text; what is set in columns or indented stays as it is."""
    for block in text.strip("\n").split("\n\n"):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") or "   " in line.strip() for line in lines):
            yield code(inspect.cleandoc("\n".join(lines)), "text")
        elif lines and any(line.lstrip().startswith(("- ", "* ")) for line in lines):
            yield "\n".join(_item(line, here, module) for line in lines)
        elif block.strip():
            yield prose(block, here, module)


def _item(line: str, here: str, module: str) -> str:
    mark = line.lstrip()[:2] if line.lstrip().startswith(("- ", "* ")) else "  "
    return mark + prose(line.strip().removeprefix(mark), here, module)


def _table(name: str, entries: Any, here: str, module: str) -> str:
    if not entries:
        return ""
    rows = [
        [
            f"`{entry.name or entry.type}`",
            prose(entry.type if entry.name else "", here, module),
            prose(" ".join(" ".join(entry.desc).split()), here, module),
        ]
        for entry in entries
    ]
    return _titled(name, table(["name", "type", "meaning"], rows))


def _titled(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text.strip() else ""
