"""`workbench measures [NAME | FILE.py]...`: every measure that a sweep can name, engine by engine, or one in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from workbench.cli.listing import listing


def rows(modules: Sequence[ModuleType]) -> list[dict[str, Any]]:
    """Return one mapping a measure: those of every engine, then the user's, also those that no engine has yet."""
    from workbench.experiments.mechanism import mechanism, mechanisms
    from workbench.experiments.user_measures import OwnMeasure, measures_of, of_setup

    entries = [
        _row(engine, measure, built_in)
        for engine in mechanisms()
        for built_in, known in (
            (True, mechanism(engine).measures),
            (True, _declared(of_setup(engine))),
            (False, _declared(measures_of(engine))),
        )
        for measure in known.values()
    ]
    entered = {row["name"] for row in entries if not row["built_in"]}
    own = (one for module in modules for one in vars(module).values() if isinstance(one, OwnMeasure))
    return [*entries, *(_row("", one.declared, False) for one in own if one.name not in entered)]


def _declared(own: Any) -> dict[str, Any]:
    return {name: one.declared for name, one in own.items()}


def _row(engine: str, measure: Any, built_in: bool) -> dict[str, Any]:
    facts = {"name": measure.name, "unit": measure.unit, "better": measure.better}
    return {"engine": engine, **facts, "description": measure.description, "built_in": built_in}


def details(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a measure is asked for, and the parts of a run that it is there of alone."""
    from workbench.experiments.mechanism import mechanism, mechanisms

    lines = [f"measures: [{row['name']}]"]
    known = mechanism(row["engine"]).measures if row["engine"] in mechanisms() else {}
    patterns = known.patterns() if hasattr(known, "patterns") else []
    return {"in_a_sweep": lines, "of_parts": [pattern for pattern in patterns if row["name"] in pattern]}


COMMAND = listing("measures", "Every measure that can be named in a sweep.", rows, details)
