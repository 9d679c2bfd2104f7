"""A results folder whose rows are all of other runs than its sweep now means: say why instead of showing nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.errors import StoreError
from workbench.experiments.plan import Plan
from workbench.experiments.store import Store


def refuse_strangers(plan: Plan, store: Store, folder: Path) -> None:
    """Refuse a store that holds rows and none of a plan's.

    Raises
    ------
    StoreError
        The sentence names what is unlike in the kept point that is most like one of the plan's.
    """
    wanted = {point.id for point in plan.points}
    rows, known = 0, False
    for row in store.kept():
        rows, known = rows + 1, known or row.point in wanted
    if rows and not known:
        raise StoreError(
            f"none of the {rows} rows in {folder} is of its sweep as it reads now: {_reason(plan, store)}; "
            f"run it again with: workbench run {folder / 'sweep.yaml'} --out {folder}"
        )


def _reason(plan: Plan, store: Store) -> str:
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
    """The dotted paths at which two identities differ; a policy's text stands under its slot."""
    if isinstance(now, dict) and isinstance(before, dict):
        for key in sorted({*now, *before}):
            yield from _unlike(now.get(key), before.get(key), f"{path}.{key}" if path else key)
    elif now != before:
        yield path
