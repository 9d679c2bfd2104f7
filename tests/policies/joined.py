"""Who has joined a contract: read from the text of a test file, as a class that is not there cannot tell."""

from __future__ import annotations

import ast

from workbench.policies.policy import policies


def built_in(question: str) -> dict[str, str]:
    """The class of each policy of this package that answers a question, by name."""
    return {name: cls.__name__ for name, cls in policies(question).items() if cls.built_in}


def joined(source: str, contract: str) -> set[str]:
    """The names of the classes of which an instance is the `policy` of a subclass of a contract."""
    found = set()
    for cls in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        if contract in {getattr(base, "id", "") for base in cls.bases}:
            assigned = (node for node in cls.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
            found |= {node.value.func.id for node in assigned if node.targets[0].id == "policy"}
    return found


def silent(question: str) -> list[str]:
    """The policies whose description lacks a source, an example or what becomes of ties."""
    wanted = ("References", ">>>")
    said = {name: cls.__doc__ or "" for name, cls in policies(question).items() if cls.built_in}
    ties = ("tie", "equal")
    return [n for n, text in said.items() if any(w not in text for w in wanted) or not any(t in text for t in ties)]
