"""The public words: each is there, those of 0.5 that moved warn, and no module of the package needs them."""

from __future__ import annotations

import ast
import importlib
import re
import warnings
from operator import attrgetter
from pathlib import Path

import pytest

import workbench as wb
from workbench import api
from workbench.policies.bases import BASES
from workbench.words import RENAMED, WORDS

PACKAGE = Path(wb.__file__).parent


def test_the_package_has_its_words_and_the_policies_their_bases():
    assert set(wb.__all__) == {*WORDS, "policies"} <= set(dir(wb))
    assert set(BASES) <= set(dir(wb.policies))
    for base in BASES:
        assert getattr(wb.policies, base).__name__ == base
    assert len(wb.policies("placement")) == len(wb.policies()[wb.policies()["question"] == "placement"]) > 10


@pytest.mark.parametrize("old", RENAMED)
def test_a_word_of_0_5_gives_the_same_with_a_warning_that_names_the_word_of_today(old):
    today = "plan" if old == "planned" else f"policies.{old}"
    with pytest.warns(DeprecationWarning, match=rf"^workbench\.{old} is now workbench\.{re.escape(today)};") as caught:
        value = getattr(wb, old)
    assert value is attrgetter(today)(wb)
    assert {one.filename for one in caught} == {__file__}
    assert old not in dir(wb)


def test_an_import_of_a_word_of_0_5_warns_as_well():
    with pytest.warns(DeprecationWarning, match=r"workbench\.policies\.Placement") as caught:
        from workbench import Placement
    assert Placement is wb.policies.Placement
    assert {one.filename for one in caught} == {__file__}


def test_the_former_word_of_the_interface_of_sweeps_warns_as_well():
    with pytest.warns(DeprecationWarning, match=r"^workbench\.api\.planned is plan since 0\.6;"):
        assert api.planned is wb.plan


def test_the_former_class_of_runs_is_that_of_the_results_and_warns():
    former = importlib.import_module("workbench.experiments.run_set")
    with pytest.warns(DeprecationWarning, match=r"RunSet is Results in workbench\.experiments\.results since 0\.6;"):
        assert former.RunSet is wb.Results
    with pytest.warns(DeprecationWarning, match=r"gather is in workbench\.experiments\.results since 0\.6;"):
        assert former.gather.__module__ == "workbench.experiments.results"


def test_a_word_of_today_does_not_warn_and_an_unknown_one_is_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec("from workbench import *", {})
    with pytest.raises(AttributeError, match="module 'workbench' has no attribute 'runn'"):
        _ = wb.runn
    with pytest.raises(AttributeError, match=r"module 'workbench\.policies' has no attribute 'Placemant'"):
        _ = wb.policies.Placemant


def needs_the_root(source: str) -> bool:
    """Return whether a module imports the root package or takes a word from it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and any(one.name == "workbench" for one in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "workbench":
            return True
    return False


def test_no_module_of_the_package_imports_the_root_whose_words_need_nearly_all_of_them():
    """Such an import and the table of words would be a circle."""
    files = sorted(PACKAGE.rglob("*.py"))
    assert len(files) > 400
    assert [str(file) for file in files if needs_the_root(file.read_text(encoding="utf-8"))] == []
    assert needs_the_root("def late():\n    import workbench\n")
    assert needs_the_root("from workbench import policies\n")
    assert not needs_the_root("from workbench.version import IMPORTED_NS\n")
