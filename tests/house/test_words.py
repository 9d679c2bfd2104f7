"""The house's words are the field's: sentences of functions begin with a verb, and values are called what they are.

A docstring's first sentence says what a function does or returns, as NumPy's guide asks: "Return whether ...", never
"Whether ...". A value is a result, a match, rows, a request, a message; the private words of older releases stay away.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house.sentences import VALUES
from tests.house.test_recipes import RECIPE_PAGES

ROOT = Path(__file__).parents[2]
VERBS = frozenset((Path(__file__).parent / "verbs.txt").read_text().split())
"""What the first sentence of a function may begin with; a verb that is missing joins verbs.txt."""

NAMES = {
    "lend": "by_reference",
    "Lent": "Reference",
    "apart": "noinline",
    "OncePerPart": "ParseCache",
    "_Desk": "_Scheduler",
    "parcel": "pickled_setup",
    "strangers": "foreign_rows",
}
"""What no function, class, module or import is called."""
DIGESTED = (
    *("structures/", "levers/", "machine/", "parts/"),
    *("streams.py", "units.py", "errors.py", "strict_yaml.py", "files.py"),
)
"""Rooms that the ids of runs are digests of: the names of parameters are part of it, those of variables are not."""


def openings(tree: ast.AST) -> Iterator[str]:
    """Functions whose docstring begins with no verb, a line each."""
    for node in ast.walk(tree):
        text = ast.get_docstring(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        if text and re.match(r"\w*", text).group() not in VERBS:
            yield f"{node.lineno}: {node.name}: begins with no verb: {text.splitlines()[0]}"


def variables(tree: ast.AST, parameters: bool = True) -> Iterator[str]:
    """Variables (and perhaps parameters) with words for names that say nothing, a line each."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _variables_of(node)
        if isinstance(node, ast.arg) and node.arg in VALUES and parameters:
            yield f"{node.lineno}: the parameter {node.arg}: what is it? {VALUES[node.arg]}"


def _variables_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for node in function.body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store) and inner.id in VALUES:
                yield f"{inner.lineno}: the variable {inner.id}: what is it? {VALUES[inner.id]}"


def names(tree: ast.AST) -> Iterator[str]:
    """Functions, classes and imports with words of older releases for names, a line each."""
    for node in ast.walk(tree):
        given = [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else []
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            given = [part for alias in node.names for part in alias.name.split(".")]
        yield from (f"{node.lineno}: {name}: say {NAMES[name]}" for name in given if name in NAMES)


PACKAGE = ROOT / "workbench"
SENTENCE = re.compile(r'^ *(?:(?:async )?def \w+\(.*|\).*):\n +[rR]?"""(\w*)', re.MULTILINE)
"""A function and the first word of its docstring, as ruff lays them out: parsing every file takes seconds."""
BOUND = re.compile(rf"(?<![.\w])(?:{'|'.join(VALUES)})(?:,| =| in |:|\))")
NAMED = re.compile(rf"\b(?:def|class|import)\b.*\b(?:{'|'.join(NAMES)})\b")


@functools.cache
def texts() -> dict[str, str]:
    """Every file of the package by its path in it."""
    return {str(path.relative_to(PACKAGE)): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def suspects(
    is_one: Callable[[str], object], among: Callable[[str], bool] = lambda path: True
) -> Iterator[tuple[str, ast.Module]]:
    """The files that may be at fault, parsed; of all or of some."""
    return ((path, ast.parse(text)) for path, text in texts().items() if among(path) and is_one(text))


def is_free_to_change(path: str) -> bool:
    """Whether no id of a run is a digest of a file's parameters."""
    return path.endswith("contract.py") or not path.startswith(DIGESTED)


def test_the_first_sentence_of_a_function_has_a_verb_in_front():
    files = suspects(lambda text: any(word not in VERBS for word in SENTENCE.findall(text)))
    assert [f"{path}:{line}" for path, tree in files for line in openings(tree)] == []


@pytest.mark.slow
def test_a_value_is_called_what_it_is():
    files = suspects(BOUND.search, is_free_to_change)
    assert [f"{path}:{line}" for path, tree in files for line in variables(tree)] == []


def test_nothing_has_the_private_name_of_an_older_release():
    assert [f"{path}:{line}" for path, tree in suspects(NAMED.search) for line in names(tree)] == []
    assert [path for path in texts() if Path(path).stem in NAMES] == []


RECIPE = re.compile(r"(?:```python\n|^cat > \w+\.py <<'PY'\n)(.*?)(?:```|^PY$)", re.DOTALL | re.MULTILINE)
"""Python in a text: what a reader copies, and then moves into the package."""


@pytest.mark.parametrize(("pages", "least"), [([ROOT / "README.md"], 2), (RECIPE_PAGES, 10)], ids=["readme", "recipes"])
def test_what_readers_copy_may_be_moved_into_the_package(pages, least):
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    recipes = [ast.parse(one) for one in RECIPE.findall(text)]
    faults = [line for tree in recipes for check in (openings, variables, names) for line in check(tree)]
    assert len(recipes) >= least and faults == []


def test_what_is_not_parsed_has_nothing_to_hide():
    text = 'def fits(\n    size: int,\n) -> bool:\n    """Whether."""\n'
    text += '\n    def inner() -> int:\n        """The size."""\n'
    assert SENTENCE.findall(text) == ["Whether", "The"]
    bound = "found = 1", "found, b = 1, 2", "for found in a:", "(found: int)", "(a, found)"
    assert all(BOUND.search(one) for one in bound)
    assert all(NAMED.search(one) for one in ("def lend(", "class Lent:", "from a import b, lend", "import a.parcel"))


@pytest.mark.parametrize(
    "opening", ["Whether it fits.", "The first hole.", "What it says.", "How many there are.", "Of a part."]
)
def test_a_noun_in_front_is_noticed(opening):
    assert len(list(openings(ast.parse(f'def fits():\n    """{opening}"""')))) == 1
    assert not list(openings(ast.parse('def fits():\n    """Return whether it fits."""\n\ndef plain():\n    pass')))


def test_a_word_that_says_nothing_is_noticed_wherever_it_is_bound():
    bound = "found = 1", "found, other = 1, 2", "for found in (): pass", "with open('') as found: pass", "(found := 1)"
    assert [len(list(variables(ast.parse(f"def fits():\n    {one}")))) for one in bound] == [1] * len(bound)
    assert len(list(variables(ast.parse("def fits(found): return found")))) == 1
    assert not list(variables(ast.parse("def fits(found): return found"), parameters=False))
    assert not list(variables(ast.parse("class Row:\n    found: int\n\ndef fits(row): return row.found")))


def test_a_private_name_is_noticed_where_it_is_defined_and_imported():
    assert (
        len(list(names(ast.parse("from workbench.compiled import lend\n\ndef apart(): pass\n\nimport a.parcel")))) == 3
    )
    assert not list(names(ast.parse("from workbench.compiled import by_reference\n\napart = 3")))


FORMER_VERDICT = re.compile(r"median\s+(paired\s+)?(difference|gain)|studentised\s+bootstrap|Wilcoxon\s+test|estimand:")
"""What a verdict was of before it was of the size, by t, and of the direction, by the sign test."""


def test_no_page_says_that_a_verdict_is_of_what_it_was():
    pages = [*ROOT.glob("docs/specification/*.md"), *ROOT.glob("docs/pages/*.md"), ROOT / "README.md"]
    pages += [*ROOT.glob("docs/pages/mechanisms/*.md"), *ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("sweeps/**/*.yaml")]
    assert len(pages) > 80
    pages.remove(ROOT / "docs" / "pages" / "migration.md")  # it says what verdicts were
    assert [f"{page.name}: {match[0]}" for page in pages for match in FORMER_VERDICT.finditer(page.read_text())] == []
