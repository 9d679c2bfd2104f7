"""The pool as the node's part beside the twin's pool, and beside the engine `pool` (spec 6, R9, R17, R19)."""

from __future__ import annotations

import pytest

from tests.depth import thinned
from tests.engines.node.pool_scripts import Play, part_of, played_by_twin, script


@pytest.mark.parametrize("by_links", [False, True], ids=["local", "links"])
@pytest.mark.parametrize("seed", thinned(range(60), 10))
def test_says_what_the_twin_says(seed: int, by_links: bool) -> None:
    one = script(seed)
    expected, played = played_by_twin(one, by_links), Play(one, part_of(one, by_links=by_links)).run()
    assert played.rows == expected.rows
    if one.pages != "neutral":
        assert played.runs == expected.runs
