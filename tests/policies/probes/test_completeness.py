"""Every probe of the package has a test file of its name, in which it joins the contract."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from workbench.policies.policy import policies

HERE = Path(__file__).parent
BUILT_IN = {name: cls.__name__ for name, cls in policies("probe").items() if cls.built_in}


def joined(source: str) -> set[str]:
    """The names of the classes of which an instance is the `probe` of a subclass of the contract."""
    found = set()
    for cls in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        if "ProbeContract" in {getattr(base, "id", "") for base in cls.bases}:
            assigned = (node for node in cls.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
            found |= {node.value.func.id for node in assigned if node.targets[0].id == "probe"}
    return found


@pytest.mark.parametrize("name", BUILT_IN)
def test_joins_the_contract(name):
    file = HERE / f"test_{name}.py"
    assert file.exists(), f"{name} has no test file"
    assert BUILT_IN[name] in joined(file.read_text()), f"{name} does not join the contract in {file.name}"


def test_sees_who_has_not_joined():
    assert joined("class TestA(ProbeContract):\n    probe = A(groups=4)\n") == {"A"}
    assert joined("class TestA:\n    probe = A()\n") == set()
    assert joined("class TestA(ProbeContract):\n    sizes = A()\n") == set()


def test_every_probe_is_exported():
    import workbench.policies.probes as room

    assert set(BUILT_IN.values()) <= set(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)


def test_every_probe_tells_its_source_and_its_ties():
    for name, cls in policies("probe").items():
        if cls.built_in:
            said = cls.__doc__ or ""
            assert "References" in said, name
            assert ">>>" in said, name
            assert "tie" in said.lower(), f"{name} does not say how ties break"
