"""What the identity of code costs: digests of every spec of the package, and a look whether a policy changed."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.row import row
from benchmarks.runner_scale import _here
from workbench.identity import current, digest_of, one_moment
from workbench.levers import Spec, lever
from workbench.policies.placement import Placement
from workbench.structures.bitmaps import first_start

ROOMS = ("machine", "policies", "workloads")
AIM = 3
LOOKS = 100_000


def identity() -> list[dict[str, Any]]:
    """In a process of its own, which has digested nothing yet."""
    code = "from benchmarks.identity import measured; measured()"
    reply = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_here())
    rows = (line.split("\t") for line in reply.stdout.splitlines())
    return [row("identity", variant, int(items), unit, float(seconds)) for variant, items, unit, seconds in rows]


def measured() -> None:
    """Print each step: what, how many, of what, seconds."""
    classes = _classes()
    assert len(classes) > 200

    def all_of_them() -> list[str]:
        with one_moment():
            return [digest_of(cls) for cls in classes]

    first = _timed("every class, the first time", len(classes), "classes", all_of_them)
    assert len(set(first)) > 200
    assert _timed("every class, for another plan", len(classes), "classes", all_of_them) == first
    policy = _own_policy()
    _timed("a policy of one's own, the first time", 1, "classes", lambda: current(policy))
    snapshot = current(policy)
    changed = _timed("has a policy of one's own changed?", LOOKS, "looks", lambda: _look(snapshot))
    assert not changed


def _look(snapshot: Any) -> bool:
    return sum(bool(snapshot.changed()) for _ in range(LOOKS)) > 0


def _own_policy() -> type[Placement]:
    class Mine(Placement):
        shift: int = lever(0, least=0, most=64, description="how far up to begin")

        def answer(see):  # type: ignore[no-untyped-def]
            return first_start(see.free, see.length, AIM)

    Mine.__module__ = "__main__"
    return Mine


def _classes() -> list[type[Spec]]:
    for room in ROOMS:
        package = importlib.import_module(f"workbench.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    return list(_below(Spec))


def _below(base: type[Spec]) -> Iterator[type[Spec]]:
    for cls in base.__subclasses__():
        yield cls
        yield from _below(cls)


def _timed(what: str, items: int, unit: str, step: Any) -> Any:
    began = time.perf_counter()
    result = step()
    print(what, items, unit, time.perf_counter() - began, sep="\t")
    return result
