"""What the pages of 0.5 imported can still be imported, from its place or by an old name that warns."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

STATEMENTS = (Path(__file__).parent / "data" / "imports_of_0_5.txt").read_text(encoding="utf-8").splitlines()
"""The imports of 0.5's README, CONTRIBUTING, pages and notebooks, and of the list of its public words."""


def problem(statement: str) -> str:
    """Return why an import fails; empty if it succeeds, with or without a warning of an old name."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            exec(statement, {})
        except Exception as error:
            return f"{statement}: {error}"
    return ""


@pytest.mark.parametrize("statement", STATEMENTS)
def test_an_import_of_0_5_succeeds(statement):
    assert problem(statement) == ""


def test_an_import_that_fails_is_named():
    assert len(STATEMENTS) > 60
    assert "no_such_word" in problem("from workbench import no_such_word")
    assert "no_such_module" in problem("import workbench.no_such_module")


def test_a_word_with_another_name_warns_of_it():
    with pytest.warns(DeprecationWarning, match=r"^workbench\.docs\.drawings: shown is drawing since 0\.6;") as caught:
        from workbench.docs.drawings import shown
    from workbench.docs.drawings import drawing

    assert shown is drawing and {one.filename for one in caught} == {__file__}
    with pytest.raises(ImportError, match="shon"):
        from workbench.docs.drawings import shon  # noqa: F401


def test_a_word_that_is_gone_says_what_to_use_today():
    sentence = (
        "workbench.studies.malloc_validation: survey_table is gone since 0.6; `workbench validate malloc` compares"
    )
    assert sentence in problem("from workbench.studies.malloc_validation import survey_table")
    assert problem("from workbench.studies.malloc_validation import Curve, LockFit, fitted, measured") == ""
