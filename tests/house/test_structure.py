"""Faults in the structure of a package are reported with their places, and its size refuses nothing."""

import pytest

from tests.house import structure
from tests.house.structure import circles, faults, ignored, modules, trend

MODULE = '''"""A text."""

import os
from a import errors

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
    from a import streams

    return len(TABLE)
'''


@pytest.fixture
def package(tmp_path):
    def write(**texts):
        for name, text in {"__init__": "", **texts}.items():
            path = tmp_path / "a" / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return modules(tmp_path / "a")

    return write


def test_code_is_neither_blank_nor_a_comment_nor_a_docstring(package):
    _, errors, one, streams = package(one=MODULE, errors="", streams="")
    assert (one.name, one.path, one.code, one.imports, one.table) == ("a.one", "a/one.py", 11, 3, True)
    assert one.edges == {"a.errors": 4, "a.streams": 18}
    assert (errors.code, errors.edges, streams.early) == (0, {}, [])
    assert not package(one=MODULE.replace('    "d": 4,\n', ""))[2].table


@pytest.mark.parametrize(
    "text",
    [
        "from a import two",
        "import a.two",
        "from . import two",
        "from .two import word",
        "from a.two import *",
        "def f():\n    import a.two",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.two import Word",
        "import importlib\nimportlib.import_module('a.two')",
        "from importlib import import_module\nWORDS = {'word': 'a.two:Word'}\nword = import_module(WORDS['word'])",
        "from importlib import import_module\nALL = [*map(import_module, ['a.two.word'])]",
        "__import__('a.two')",
        "from b import attribute\nlater = attribute('a.two:word')",
    ],
)
def test_every_kind_of_import_closes_a_circle(package, text):
    of = package(one=text, two="x = 1\nfrom a.one import y")
    last = len(text.splitlines()) if "WORDS" not in text else 2
    assert faults(of) == [
        "a circle of 2 modules: remove imports until none leads back",
        f"    a/one.py:{last} a.one imports a.two",
        "    a/two.py:2 a.two imports a.one",
    ]


def test_a_submodule_needs_no_parent_and_a_literal_alone_is_no_import(package):
    below = {"sub__in____init__": "from a.sub import two", "sub__in__two": "from ..one import x"}
    assert faults(package(**below, one="NAMES = ('a.sub', 'a.sub.two')\nrun(['-m', 'a.sub'])")) == []
    assert faults(package(**below, one="import importlib\nimportlib.import_module('a')")) == []
    assert len(faults(package(**below, one="from a import sub"))) == 4


def test_only_imports_of_the_results_close_no_circle():
    matches = ignored().fullmatch
    assert matches("workbench.experiments.results -> workbench.explain.discovery.discovery")
    assert matches("workbench.experiments.results -> workbench.experiments.point_selection")
    assert not matches("workbench.experiments.results -> workbench.statistics.deep.inside")
    assert not matches("workbench.experiments.results -> workbench.experiments.plan")
    assert not matches("workbench.experiments.store -> workbench.statistics.summary")


def test_circles_are_sets_of_modules_that_need_each_other():
    assert circles({"a": ["b"], "b": ["c"], "c": ["b", "elsewhere"], "d": ["a", "d"]}) == [["b", "c"]]
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "x": ["y"], "y": ["x"]}) == [["a", "b", "c"], ["x", "y"]]
    assert circles({"a": ["b"], "b": []}) == []


def test_a_module_above_the_bound_is_refused_unless_it_is_a_table(package):
    assert faults(package(one="x = 1\n" * 500)) == []
    table = "TABLE = [\n" + "    1,\n" * 600 + "]\n"
    assert faults(package(one="x = 1\n" * 501, two=table)) == [
        "a/one.py: 501 lines of code, at most 500: move one of its concepts to a module"
    ]


@pytest.mark.parametrize(
    "use", ["def f():\n    return _MOST", "@lru_cache(_MOST)\ndef f(): pass", "class A:\n    x = _MOST"]
)
@pytest.mark.parametrize("definition", ["_MOST = 4", "_MOST: int = 4", "if True:\n    LEAST, _MOST = 1, 4"])
def test_a_constant_far_below_its_use_is_refused(package, use, definition):
    line = next(number for number, text in enumerate(use.splitlines(), 1) if "_MOST" in text)
    between = "\n" * (line + 21 - use.count("\n") - 1 - definition.count("\n"))
    assert faults(package(one=use + between[1:] + definition)) == []
    assert faults(package(one=use + between + definition)) == [
        f"a/one.py:{line}: _MOST used at line {line}, defined at line {line + 21}: define it above its use"
    ]


@pytest.mark.parametrize("local", ["from b import MOST", "MOST = 1", "f = lambda MOST: MOST"])
def test_a_name_that_a_function_gives_a_value_is_no_use_of_the_constant(package, local):
    below = "\n" * 30
    assert faults(package(one=f"def f():\n    {local}\n    return MOST{below}MOST = 4")) == []
    assert len(faults(package(one=f"def f():\n    return MOST\ndef g():\n    {local}{below}MOST = 4"))) == 1


def test_the_size_refuses_nothing_and_a_fault_does(package, monkeypatch, capsys):
    small = package(one=MODULE)
    assert trend(small) == "modules 2, code lines 11, median 6, imports 27.3 %, longest a 0"
    monkeypatch.setattr(structure, "modules", lambda: small)
    assert structure.main() == 0
    assert capsys.readouterr().out == trend(small) + "\n"
    large = package(one="x = 1\n" * 501)
    monkeypatch.setattr(structure, "modules", lambda: large)
    assert structure.main() == 1
    assert "a/one.py: 501 lines" in capsys.readouterr().out
