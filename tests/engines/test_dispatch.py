"""The engine `dispatch` against its slow twin: the same record, field by field, for every policy and lever."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engines.dispatch_cases import Case, assert_same
from tests.engines.dispatch_laws import assert_lawful
from tests.engines.dispatch_strategies import cases
from workbench.policies.dispatch import (
    Ageing,
    ChannelRoundRobin,
    DeficitRoundRobin,
    EarliestDeadline,
    LeastRecentEnergy,
    Lottery,
    LowestChannel,
    MostResidual,
    MultilevelFeedback,
    NeverSplit,
    NoPriority,
    OldestFirst,
    PlainRandom,
    PriorityWindows,
    RotatedSplit,
    SameChannel,
    ServedMarks,
    SplitWhenStuck,
    StaticPriority,
    StrictBlocking,
    StrictPriority,
    Stride,
    WeightedChoice,
    WeightedRoundRobin,
)
from workbench.policies.placement import (
    AlternateEnds,
    BestFit,
    FirstFit,
    LastFit,
    NearestBoundary,
    NextFit,
    PagedMemory,
    RandomFit,
    SegregatedFit,
    SizeSegregatedEnds,
    UnsortedFreeList,
    WorstFit,
)
from workbench.policies.probes import ExactRun

PLACEMENTS = [
    FirstFit(),
    LastFit(),
    NextFit(),
    BestFit(),
    WorstFit(),
    RandomFit(),
    NearestBoundary(),
    PagedMemory(),
    NearestBoundary(tie="alternate"),
    AlternateEnds(),
    SizeSegregatedEnds(),
    SegregatedFit(),
    UnsortedFreeList(),
]
PRIORITIES = [StaticPriority(), NoPriority(), Ageing(), EarliestDeadline(), PriorityWindows(shortest=2)]
SELECTIONS = [
    ServedMarks(),
    ServedMarks(clear_scope="all_channels"),
    ChannelRoundRobin(),
    DeficitRoundRobin(),
    Lottery(),
    LowestChannel(),
    MultilevelFeedback(),
    OldestFirst(),
    PlainRandom(),
    SameChannel(),
    StrictBlocking(),
    StrictPriority(),
    Stride(),
    WeightedRoundRobin(),
]
PROBES = [ExactRun()]
STUCK = [NeverSplit(), SplitWhenStuck()]
UNITS = [RotatedSplit()]
CHOICES = [MostResidual(), LeastRecentEnergy(nx=4), WeightedChoice()]


def any_policies(machine: dict[str, Any], levels: int) -> Any:
    return st.fixed_dictionaries(
        {
            "probe": st.sampled_from(PROBES),
            "placement": st.sampled_from(PLACEMENTS),
            "shared_placement": st.sampled_from(PLACEMENTS),
            "priority": st.sampled_from(PRIORITIES),
            "selection": st.sampled_from(SELECTIONS),
            "stuck": st.sampled_from(STUCK),
            "units": st.sampled_from(UNITS),
            "choice": st.sampled_from(CHOICES),
        }
    )


@settings(max_examples=200)
@given(cases(any_policies))
def test_equals_the_slow_twin(case: Case) -> None:
    record = assert_same(case)
    if record is not None:
        assert_lawful(case, record)
