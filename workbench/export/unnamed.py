"""What a sweep names and no file of a bundle defines: policies, laws, engines, measures, figures of a notebook."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.engines.engine import Setup
from workbench.experiments.run_set import RunSet
from workbench.figures.known import FIGURES
from workbench.levers import Spec


def write_unnamed(runs: RunSet, folder: Path, inputs: str, copied: set[Path]) -> list[str]:
    """Write the text of every class that the bundle cannot bring along, where there is one; say which runs need it.

    Parameters
    ----------
    inputs : str
        The folder of the bundle that takes the texts, for a reader: nothing runs them.
    copied : set of Path
        The files that the bundle has.
    """
    behind: dict[type, int] = {}
    for point in runs.points:
        for cls in set(_classes(point.setup, type(runs.plan.sweep.mechanism.engine))):
            if not _comes_along(cls, copied):
                behind[cls] = behind.get(cls, 0) + len(runs.seeds)
    messages = [_sentence(cls, count, len(runs.plan), _write(cls, folder, inputs)) for cls, count in behind.items()]
    return [*messages, *(_of_column(part, _write(part, folder, inputs)) for part in _named(runs))]


def _named(runs: RunSet) -> Iterator[Any]:
    """Yield the functions of the measures and figures of the user's that the sweep names without a file."""
    yield from (one.function for one in runs.plan.sweep.own.values() if not one.said and not one.built_in)
    figures = runs.plan.sweep.said.get("figures") or []
    drawn = (FIGURES[name] for name in figures if name in FIGURES)
    yield from (recipe.data for recipe in drawn if not recipe.built_in)


def _classes(setup: Setup, engine: type) -> Iterator[type]:
    yield engine
    for spec in (setup.machine, setup.workload, setup.options, *setup.policies.values()):
        yield from _inside(spec)


def _inside(value: Any) -> Iterator[type]:
    if isinstance(value, Spec):
        yield type(value)
        for name in value.levers:
            yield from _inside(getattr(value, name))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _inside(one)


def _comes_along(cls: type, copied: set[Path]) -> bool:
    if cls.__module__.split(".")[0] == "workbench":
        return True
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return file is not None and Path(file).resolve() in copied


def _write(cls: Any, folder: Path, inputs: str) -> str | None:
    try:
        text = inspect.getsource(cls)
    except (OSError, TypeError):
        return None
    name = f"{inputs}/{getattr(cls, 'name', cls.__name__)}.source.txt"
    (folder / inputs).mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return name


def _sentence(cls: type, count: int, of: int, text: str | None) -> str:
    return (
        f"{count} of {of} runs need {cls.__name__}, which {_home(cls)} defines and the bundle does not bring along"
        f"{_shown(text)}: "
        "they cannot be done again elsewhere unless it is defined there first. A policy in a file comes along."
    )


def _of_column(function: Any, text: str | None) -> str:
    return (
        f"{function.__name__} is computed by what {_home(function)} defines and the bundle does not bring along"
        f"{_shown(text)}: it cannot be computed elsewhere unless it is defined there first. Named as FILE.py:NAME it "
        "comes along."
    )


def _home(part: Any) -> str:
    return "a notebook or a script" if part.__module__ == "__main__" else f"the module {part.__module__}"


def _shown(text: str | None) -> str:
    return f" (its text: {text})" if text else ""
