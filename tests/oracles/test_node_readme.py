"""The example of the twin's page runs, and its table names every file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "node"
PAGE = (HERE / "README.md").read_text()


def test_the_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["run"].failure == ""
    assert len(names["run"].log.of("node", "group_end")) == 4


def test_every_file_is_named() -> None:
    files = {path.name for path in HERE.glob("*.py")} - {"__init__.py"}
    assert {name for name in files if f"`{name}`" not in PAGE} == set()


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = re.findall(r"^- ([NC]\d+): ", (HERE / "decisions.md").read_text(), re.MULTILINE)
    assert len(numbers) == len(set(numbers))
    assert [number for number in numbers if number[0] == "N"] == [f"N{k}" for k in range(1, len(numbers) - 3)]
