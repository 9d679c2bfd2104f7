"""The grants of a run as golden vectors: what a placement's circuit is to say when it meets the run's own requests.

The vectors are made of the run's decisions: the map that the policy saw says what was released since the one before,
its answer is what the circuit must grant. So the whole way is replayed, from an empty memory on: bitmap, release
first, search, register of ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from workbench.circuits.vectors import Case, Step
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError
from workbench.experiments.plan import Plan
from workbench.explain.decisions import Decision, decisions_of
from workbench.policies.placement.question import Placement
from workbench.policies.policy import Policy
from workbench.structures.bitmaps import unpacked


class Replayed(NamedTuple):
    """A circuit's policy and size, and the one case that a run is."""

    policy: Placement
    segments: int
    case: Case


def replayed(setup: Setup, seed: int, most: int = 2_000) -> Replayed:
    """Return the requests to a placement in a run, and its grants, as steps of its circuit from a reset on.

    Parameters
    ----------
    setup : Setup
        Of the engine `shared_memory`, as `plan.points[k].setup`.
    seed : int
    most : int
        Requests are replayed, from the run's beginning.

    Raises
    ------
    InputError
        The engine is another, or the placement moves or scatters segments.

    Examples
    --------
    >>> import workbench as wb
    >>> plan = wb.plan({"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}})
    >>> policy, segments, case = replayed(plan.points[0].setup, seed=0)
    >>> policy.name, segments, case[0].outputs
    ('nearest_boundary', 128, {'granted': 1, 'start': 0})
    """
    placement = setup.policies.get("placement")
    if setup.engine != "shared_memory" or not isinstance(placement, Placement):
        raise InputError(f"the grants of a run of shared_memory can be replayed, not those of {setup.engine}.")
    if placement.layout != "contiguous":
        raise InputError(f"{placement.name} moves or scatters segments, which the circuit of a placement does not do.")
    decisions = [one for one in decisions_of(setup, seed, most) if one.question == "placement"]
    segments = setup.machine.segments
    return Replayed(placement, segments, list(_steps(placement, segments, decisions)))


def setup_with(plan: Plan, policy: Policy) -> Setup:
    """Return the setup of the first point whose placement has a policy's name.

    Raises
    ------
    InputError
        No point has.
    """
    placements = [point.setup.policies.get("placement") for point in plan.points]
    for point, placement in zip(plan.points, placements, strict=True):
        if placement is not None and placement.name == policy.name:
            return point.setup
    there = ", ".join(dict.fromkeys(one.name for one in placements if one is not None)) or "none that places"
    raise InputError(f"no point of the sweep has the placement {policy.name}; there is {there}.")


def _steps(policy: Placement, segments: int, decisions: list[Decision]) -> Iterator[Step]:
    """Yield a step for each request, with what was released before; a release of several ranges takes steps of its
    own."""
    held = np.ones(segments, bool)
    for decision in decisions:
        free = unpacked(np.array(decision.saw["free"], np.uint64), segments).astype(bool)
        *before, last = [*_ranges(free & ~held)] or [(0, 0)]
        for range_ in before:
            yield Step(_inputs(0, range_), {"granted": 0, "start": 0})
        length, answer = int(decision.saw["length"]), decision.answer
        yield Step(_inputs(length, last), {"granted": int(answer >= 0), "start": max(answer, 0)})
        held = free
        if answer >= 0:
            held[answer : answer + int(policy.footprint(length, segments))] = False


def _inputs(length: int, released: tuple[int, int]) -> dict[str, int]:
    base, size = released
    return {"request": int(length > 0), "length": length, "frees": int(size > 0), "base": base, "released": size}


def _ranges(bits: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of every run of ones."""
    for _, run in groupby(enumerate(np.flatnonzero(bits).tolist()), key=lambda place: place[1] - place[0]):
        places = [segment for _, segment in run]
        yield places[0], len(places)
