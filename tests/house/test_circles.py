"""Within these packages no two files import each other, not even for their types, nor inside a function."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROOMS = ("circuits", "engines", "identity", "levers", "machine", "policies", "workloads")


def files(room: str) -> list[Path]:
    return sorted((ROOT / "workbench" / room).rglob("*.py"))


def module(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(source: str, known: set[str]) -> set[str]:
    """The known modules that a source imports, wherever the import stands."""
    result = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{one.name}" for one in node.names}
            result |= names & known or {node.module} & known
        elif isinstance(node, ast.Import):
            result |= {one.name for one in node.names} & known
    return result


def circle(sources: dict[str, str]) -> list[str]:
    """A circle of imports, empty where there is none."""
    graph = {name: imported(source, set(sources)) for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


@pytest.mark.parametrize("room", ROOMS)
def test_no_two_files_of_a_room_import_each_other(room):
    sources = {module(file): file.read_text(encoding="utf-8") for file in files(room)}
    assert len(sources) > 1
    assert circle(sources) == []


def test_a_circle_is_noticed_for_types_and_within_functions():
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.two import B\n"
    assert set(circle({"a.one": typed, "a.two": "def f():\n    import a.one\n"})) == {"a.one", "a.two"}
    assert circle({"a.one": typed, "a.two": "import numpy\n"}) == []
