"""Compaction against its contract; it answers as its base does, in everything but the layout (spec 1, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import placement as slow
from tests.policies.placement.together import moves, segments, walk_together
from workbench.errors import InputError
from workbench.policies.placement import (
    BestFit,
    Buddy,
    ByteCounter,
    Compaction,
    NearestBoundary,
    NextFit,
    RandomFit,
    SegregatedFit,
)
from workbench.policies.placement.contract import PlacementContract
from workbench.policies.policy import read_policy


class TestCompaction(PlacementContract):
    policy = Compaction()


class TestCompactionOfTurns(PlacementContract):
    policy = Compaction(base=NearestBoundary(tie="alternate"), cycles_per_moved_segment=4)


class TestCompactionOfBlocks(PlacementContract):
    policy = Compaction(base=Buddy())


@given(segments, moves)
def test_walks_with_the_twin_of_its_base(segments, moves):
    walk_together(Compaction(base=BestFit(tie="high")), slow.BestFit(segments, "high"), moves)


@pytest.mark.parametrize("base", [BestFit(tie="high"), Buddy(), NextFit(), RandomFit(), SegregatedFit(subclasses=2)])
def test_speaks_for_its_base(base):
    policy = Compaction(base=base)
    assert policy.layout == "compacting"
    assert policy.function() is base.function()
    assert all(policy.notice(name) is base.notice(name) for name in ("granted", "released"))
    assert policy.parameters().tolist() == base.parameters().tolist()
    assert policy.start_memory(16, 3).tolist() == base.start_memory(16, 3).tolist()
    assert policy.footprint(5, 16) == base.footprint(5, 16)
    assert policy.work_conserving() == base.work_conserving()


def test_reads_its_base_by_name():
    given = {"compaction": {"base": {"best_fit": {"tie": "high"}}, "cycles_per_moved_segment": 2}}
    assert read_policy("placement", given) == Compaction(base=BestFit(tie="high"), cycles_per_moved_segment=2)
    assert read_policy("placement", {"compaction": {"base": "next_fit"}}) == Compaction(base=NextFit())


@pytest.mark.parametrize("base", [ByteCounter(), Compaction()])
def test_refuses_a_base_without_ranges(base):
    with pytest.raises(InputError, match=r"compaction\.base must be a policy that grants contiguous ranges"):
        Compaction(base=base)


@given(st.sampled_from(["best_fitt", "", "compactor"]))
def test_names_the_path_of_a_wrong_base(name):
    with pytest.raises(InputError, match=r"a\.yaml: policy\.placement\.compaction\.base: unknown placement policy"):
        read_policy("placement", {"compaction": {"base": name}}, "policy.placement", "a.yaml")


def test_the_schema_of_its_base_names_the_policies():
    names = Compaction.schema()["properties"]["base"]["anyOf"][0]["enum"]
    assert {"best_fit", "nearest_boundary", "compaction"} <= set(names)
    assert BestFit.schema()["properties"]["tie"]["enum"] == ["low", "high"]
