"""The stubs state what the packages have: the public words, the bases of policies, the policies of each family."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import workbench as wb
from workbench.policies.bases import BASES
from workbench.policies.policy import exported
from workbench.words import WORDS

ROOT = Path(wb.__file__).parent.parent
STUBS = sorted(path.parent for path in (ROOT / "workbench").rglob("__init__.pyi"))
"""The packages that have a stub."""
FAMILIES = sorted(
    path.parent for path in (ROOT / "workbench" / "policies").rglob("__init__.py") if "exported" in path.read_text()
)
"""The packages that find their policies in their modules."""


def named(package: Path) -> str:
    """Return the name by which a package is imported."""
    return ".".join(package.relative_to(ROOT).parts)


def stated(text: str) -> dict[str, object]:
    """Return each public name of a stub with the object that it imports; `None` where the stub declares it itself."""
    names: dict[str, object] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            inner = ROOT.joinpath(*str(node.module).split("."), "__init__.pyi")
            names |= stated(inner.read_text(encoding="utf-8"))
        elif isinstance(node, ast.ImportFrom):
            names |= {one.asname: place(str(node.module), one.name) for one in node.names if one.asname}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = None
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names[ast.unparse(target)] = None
    return names


def place(module: str, name: str) -> object:
    """Return what an import of a name from a module gives: an attribute, or a module within."""
    value = getattr(importlib.import_module(module), name, None)
    return value if value is not None else importlib.import_module(f"{module}.{name}")


def differences(text: str, package: str, wanted: set[str]) -> list[str]:
    """Return what a stub leaves out, adds, or takes from another place than the package does at runtime."""
    names, module = stated(text), importlib.import_module(package)
    missing = [f"{name} is missing" for name in sorted(wanted - set(names))]
    unknown = [f"{name} is not there" for name in names if not hasattr(module, name)]
    other = [
        f"{name} is another one"
        for name, value in names.items()
        if value is not None and not _is_same(getattr(module, name, value), value)
    ]
    return [*missing, *unknown, *other]


def _is_same(value: object, stated: object) -> bool:
    """Return whether a word is what its stub states: a package that is called as the function is counts too."""
    return value is stated or getattr(vars(type(value)).get("__call__"), "__func__", None) is stated


def wanted_of(package: str) -> set[str]:
    """Return the names that a package must state in its stub."""
    if package == "workbench":
        return {*WORDS, "policies", "__version__", "IMPORTED_NS"}
    return set(BASES) if package == "workbench.policies" else set(exported(package))


@pytest.mark.parametrize("package", STUBS, ids=named)
def test_a_stub_states_what_its_package_has(package):
    name, text = named(package), (package / "__init__.pyi").read_text(encoding="utf-8")
    assert differences(text, name, wanted_of(name)) == []


def test_words_and_bases_are_all_that_the_two_upper_stubs_state():
    for name in ("workbench", "workbench.policies"):
        text = ROOT.joinpath(*name.split("."), "__init__.pyi").read_text(encoding="utf-8")
        assert set(stated(text)) == wanted_of(name)


def test_every_package_that_finds_its_policies_has_a_stub():
    assert len(FAMILIES) == 10
    assert set(FAMILIES) <= set(STUBS)


def test_a_stub_that_differs_from_its_package_is_named():
    text = "from workbench.policies.pool.fit import FirstFit as FirstFit\nNoFit: int\n"
    found = differences(text, "workbench.policies.placement", {"FirstFit", "LastFit"})
    assert found == ["LastFit is missing", "NoFit is not there", "FirstFit is another one"]
