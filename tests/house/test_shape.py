"""The shape of the package is counted right, and a ceiling that is exceeded is named and fails `make check`."""

import json

from tests.house import shape
from tests.house.shape import Module, circles, exceeded, module_of, modules

TEXT = '''"""A text."""

import os
from workbench import errors, units

# why
TABLE = {
    "a": 1,
    "b": 2,
    "c": 3,
    "d": 4,
}
"""What it is."""


def answer() -> int:
    """Return it."""
    from workbench import streams

    return len(TABLE)
'''


def test_code_is_what_is_neither_blank_nor_a_comment_nor_a_text():
    needs = frozenset({"os", "workbench", "workbench.errors", "workbench.units"})
    assert module_of("one", TEXT) == Module("one", 11, 3, True, needs)
    assert not module_of("one", TEXT.replace('    "d": 4,\n', "")).table


def test_circles_are_sets_of_modules_that_need_each_other():
    assert circles({"a": ["b"], "b": ["c"], "c": ["b", "elsewhere"], "d": ["a", "d"]}) == [["b", "c"]]
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "x": ["y"], "y": ["x"]}) == [["a", "b", "c"], ["x", "y"]]
    assert circles({"a": ["b"], "b": []}) == []


def test_what_is_worse_than_its_ceiling_is_named_and_fails(tmp_path, monkeypatch, capsys):
    assert exceeded({"modules": 12, "median code lines": 40}, {"modules": 12, "median code lines": 40}) == []
    assert exceeded({"modules": 12, "median code lines": 40}, {"modules": 11, "median code lines": 41}) == [
        "modules: 12, at most 11",
        "median code lines: 40, at least 41",
    ]
    some = modules(shape.ROOT / "workbench" / "levers")
    monkeypatch.setattr(shape, "modules", lambda: some)
    now = shape.shape(some)
    lower = {**now, "modules": now["modules"] - 1}
    monkeypatch.setattr(shape, "CEILINGS", ceilings := tmp_path / "shape.json")
    ceilings.write_text(json.dumps(lower))
    assert shape.main([]) == 1
    assert f"modules: {now['modules']:,}, at most {lower['modules']:,}" in capsys.readouterr().out
    ceilings.write_text(json.dumps({**now, "modules": now["modules"] + 1}))
    assert shape.main(["--renew"]) == 0
    assert json.loads(ceilings.read_text()) == now
