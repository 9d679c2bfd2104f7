"""`workbench levers [NAME]`: every lever, or those of a name or of a policy: range, unit, default."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from workbench.cli.listing import listing
from workbench.levers import Lever, Spec


def rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a lever and class that has it, then those of the classes in the user's files."""
    from workbench.cli.lever_words import declared

    own = [cls for module in modules for cls in vars(module).values() if _is_own(cls, module)]
    places = [(name, cls) for name, classes in declared().items() for cls in classes]
    places += [(name, cls) for cls in own for name in cls.levers]
    return [_row(cls, cls.levers[name]) for name, cls in dict.fromkeys(places)]


def _is_own(value: Any, module: ModuleType) -> bool:
    return isinstance(value, type) and issubclass(value, Spec) and value.__module__ == module.__name__


def _row(cls: type[Spec], one: Lever) -> dict[str, Any]:
    from workbench.cli.lever_words import default, kind_of, values

    return {
        "name": one.name,
        "of": cls.name,
        "kind": kind_of(cls),
        "values": values(one),
        "default": f"default {default(one)}" if not one.required else "must be given",
        "unit": one.unit,
        "description": one.description,
        "built_in": cls.built_in,
    }


COMMAND = listing("levers", "Every lever with its range, default and unit.", rows, named_by=("name", "of"))
