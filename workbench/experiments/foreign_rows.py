"""A results folder whose rows are all of other runs than its sweep now means: say why, instead of nothing at all."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from workbench.errors import StoreError
from workbench.experiments.plan import Plan
from workbench.experiments.store import Store


def refuse_foreign(plan: Plan, store: Store, folder: Path) -> None:
    """Refuse a store that holds rows and none of a plan's.

    Raises
    ------
    StoreError
        The sentence says what named the rows otherwise, or names what is unlike in the kept point that is most like
        one of the plan's.
    """
    wanted = {point.id for point in plan.points}
    rows, known = 0, False
    for row in store.kept():
        rows, known = rows + 1, known or row.point in wanted
    if rows and not known:
        reason = _named_otherwise(store.origins().values()) or _unlike_points(plan, store)
        raise StoreError(
            f"none of the {rows} rows in {folder} is of its sweep as it reads now: {reason}; "
            f"run it again with: workbench run {folder / 'sweep.yaml'} --out {folder}"
        )


def foreign_sentence(plan: Plan, store: Store, done: Collection[str]) -> str:
    """Say why nothing of a plan is kept in a folder that holds rows, where another version or another Python made them.

    Empty where something is kept, where there are no rows, or where they are simply of another sweep. `done` holds the
    ids of the runs that are done.
    """
    rows, reason = store.count(), _named_otherwise(store.origins().values())
    if not rows or not reason or any(run.id in done for run in plan.runs()):
        return ""
    return f"none of the {rows} rows in this folder is kept for this sweep: {reason}"


def _named_otherwise(origins: Iterable[str]) -> str:
    """Return what names runs otherwise than this process: an older version, or another Python; else empty."""
    made = {_minor(json.loads(text).get("python", "")) for text in origins}
    here = _minor(platform.python_version())
    if not made:
        return "they were made by workbench 0.4 or older, which named runs otherwise"
    if here in made:
        return ""
    return f"they were made under Python {', '.join(sorted(made))}, and this is {here}, which names runs otherwise"


def _minor(version: str) -> str:
    """Return the part of a version of Python with which compiled code may change.

    >>> _minor("3.12.4")
    '3.12'
    """
    return ".".join(version.split(".")[:2])


def _unlike_points(plan: Plan, store: Store) -> str:
    now = plan.points[0].setup.identity()
    unlike = [list(_unlike(now, before)) for before in store.identities().values()]
    paths = min(unlike, key=len, default=[])
    if not unlike:
        return "what they were is not known"
    if not paths:
        return f"the engine {now['engine']} gives other results since"
    code = [path.split(".") for path in paths if path.endswith(".code")]
    if code:
        part, name = code[0][:2]
        return f"the policy of {name} was edited since" if part == "policies" else f"the {part}'s code was edited since"
    return f"{paths[0]} is another one since"


def _unlike(now: Any, before: Any, path: str = "") -> Iterator[str]:
    """Yield the dotted paths at which two identities differ; a policy's text stands under its slot."""
    if isinstance(now, dict) and isinstance(before, dict):
        for key in sorted({*now, *before}):
            yield from _unlike(now.get(key), before.get(key), f"{path}.{key}" if path else key)
    elif now != before:
        yield path
