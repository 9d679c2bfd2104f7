"""The dispatcher's part under a node's load does as the dispatcher of the node's twin (spec 6, E2, R15, R16, N1-N12)."""

from __future__ import annotations

import pytest

from tests.depth import thinned
from tests.engines.dispatch_in_a_node import Played, Twin, drawn_plan

CHOICES = ("first_module", "balanced", "least_energy", "affinity")


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("seed", thinned(range(40), 5))
def test_it_says_what_the_twin_says(seed: int, choice: str) -> None:
    plan = drawn_plan(seed, choice)
    assert Played(plan, by_range=bool(seed % 2)).run() == Twin(plan).run()
