"""Runs of a dispatcher that were worked out by hand from the sentences of spec 3, the engine and its twin alike."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from tests.engines.dispatch_cases import Case, Row, assert_same
from tests.engines.dispatch_laws import assert_lawful, keeps_units_even
from tests.oracles.dispatch_past import ONE, Past, rates
from workbench.metrics.dispatch_rows import amounts
from workbench.policies.dispatch import (
    LeastRecentEnergy,
    NoPriority,
    PriorityWindows,
    RotatedSplit,
    ServedMarks,
    SplitWhenStuck,
    StrictBlocking,
)
from workbench.policies.placement import FirstFit
from workbench.policies.probes import ExactRun, SharedRun
from workbench.structures.execution_rates import part_rate


def happened(case: Case):
    record = assert_same(case)
    assert record is not None
    assert_lawful(case, record)
    return record


def vgpr(blocks: int, **more) -> Row:
    return Row(need={"vgpr": blocks}, **more)


def test_a_head_that_fits_nowhere_does_not_block_other_channels():
    """R8: A fills the unit for ten cycles, so B of its channel waits; C, of lower priority, passes it."""
    a, b = vgpr(16, duration=10), vgpr(16, duration=5)
    c = vgpr(0, channel=1, priority=2, duration=3)
    record = happened(Case([a, b, c]))
    assert record.group.tolist() == [0, 2, 1]
    assert record.cycle.tolist() == [0, 1, 10]
    assert (record.rounds, record.failed_rounds, record.head_rounds) == (11, 8, 2 + 2 + 8 + 1)
    assert record.failures.tolist() == [[2, 2], [4, 6]]  # C leaves at 4, which helps nobody


def test_one_dispatch_a_round_unless_told_otherwise():
    """E7."""
    rows = [Row(channel=k, duration=9) for k in range(4)]
    assert happened(Case(rows)).cycle.tolist() == [0, 1, 2, 3]
    assert happened(Case(rows, options={"dispatches_a_round": 3})).cycle.tolist() == [0, 0, 0, 1]
    assert happened(Case(rows, options={"round_cycles": 5})).cycle.tolist() == [0, 5, 10, 15]


def test_what_is_released_in_a_cycle_is_given_in_it():
    rows = [vgpr(16, duration=7), vgpr(16, duration=2)]
    assert happened(Case(rows)).cycle.tolist() == [0, 7]


def test_a_placement_serves_every_contiguous_resource():
    """R12: FirstFit starts at the low end; the module's memory may have a placement of its own."""
    row = Row(duration=5, waves=2, need={"vgpr": 3, "sgpr": 2, "shared": 4})
    record = happened(Case([row, row._replace(channel=1)], policies={"placement": FirstFit()}))
    assert record.takes.tolist() == [
        [0, 0, 0, 0, 6],
        [0, 0, 1, 0, 4],
        [0, 0, 2, -1, 2],
        [0, -1, 3, 0, 4],
        [0, -1, 4, -1, 1],
        [1, 0, 0, 6, 6],
        [1, 0, 1, 4, 4],
        [1, 0, 2, -1, 2],
        [1, -1, 3, 4, 4],
        [1, -1, 4, -1, 1],
    ]


def test_per_wave_blocks_need_no_long_run():
    """E5: eight blocks for two waves together do not fit into runs of four; four and four do."""
    holes = [vgpr(4, duration=d) for d in (4, 90, 4, 90)]
    case = Case([*holes, vgpr(4, waves=2, arrival=7, duration=1)], policies={"placement": FirstFit()})
    assert happened(case).cycle.tolist()[-1] == 91
    case.options = {"blocks_on_a_unit": "per_wave"}
    record = happened(case)
    assert record.cycle.tolist()[-1] == 7
    assert [t[3:] for t in record.takes.tolist() if t[0] == 4 and t[2] == 0] == [[0, 4], [8, 4]]


def test_v28_v29_windows_share_the_time_on_top():
    """Four channels always wait, one a priority; a slot that is free again in every cycle shows who is on top."""
    rows = [Row(channel=p - 1, priority=p) for p in (1, 2, 3, 4) for _ in range(30)]
    windows = PriorityWindows(lengths=(8, 4, 2, 1))
    record = happened(Case(rows, slots=1, policies={"priority": windows}))
    assert record.level.tolist()[:45] == 3 * (8 * [1] + 4 * [2] + 2 * [3] + [4])


@pytest.mark.parametrize(
    ("lengths", "round_cycles", "probe", "begins"),
    [
        ((14, 5), 5, "comb_1cycle", 15),
        ((4, 4), 3, "comb_1cycle", 6),
        ((14, 5), 3, "comb_1cycle", 15),
        ((10, 2), 7, "comb_1cycle", 35),
        ((14, 5), 1, "pipe_3cycle", 15),
        ((4, 4), 1, "pipe_3cycle", 6),
        ((3, 2), 5, "comb_1cycle", 105),
    ],
)
def test_a_window_is_seen_by_the_rounds_that_fall_into_it(lengths, round_cycles, probe, begins):
    """R18, R19: the second group blocks the third until a round falls into the third's window, not into its edge.

    Rounds are at multiples of their cycles (E7), a probe of three cycles makes them three times as long; the third
    begins at the first round after cycle 1 whose place in the period of the windows is behind the first window.
    """
    late = vgpr(4, arrival=1, channel=1, priority=2, duration=10)
    rows = [vgpr(10, duration=100), vgpr(10, arrival=1, duration=10), late]
    policies = {
        "priority": PriorityWindows(lengths=lengths),
        "selection": StrictBlocking(),
        "probe": ExactRun(timing=probe),
    }
    record = happened(Case(rows, policies=policies, options={"round_cycles": round_cycles}))
    assert record.cycle[record.group == 2].tolist() == [begins]


def test_v30_the_257th_failed_round_splits():
    """The unit is full from cycle 0 on; rounds 1 to 257 fail."""
    rows = [vgpr(16, duration=300), vgpr(8, channel=1, waves=2, independent=True, duration=4)]
    record = happened(Case(rows, policies={"stuck": SplitWhenStuck(threshold=256)}))
    assert record.splits.tolist() == [[257, 1, 2]]
    assert record.cycle.tolist() == [0, 300, 301]


def test_e11_a_flagged_head_that_comes_late_is_split_at_once():
    rows = [
        vgpr(16, duration=300),
        vgpr(16, channel=1, duration=1),
        vgpr(8, channel=2, arrival=100, waves=2, independent=True),
    ]
    record = happened(Case(rows, policies={"stuck": SplitWhenStuck(threshold=9)}))
    assert record.splits.tolist() == [[100, 2, 2]]


def test_parts_go_where_there_is_room_one_after_another():
    """R26, R28, R29: both modules are half full; a group of two halves fits neither, its waves fit one each."""
    rows = [vgpr(8, duration=50), vgpr(8, duration=50), vgpr(8, arrival=2, waves=2, independent=True, duration=5)]
    record = happened(Case(rows, modules=2, policies={"stuck": SplitWhenStuck(threshold=2)}))
    assert record.module.tolist() == [0, 1, 0, 1]
    assert record.cycle.tolist() == [0, 1, 5, 6]
    assert record.splits.tolist() == [[4, 2, 2]]


def test_an_unflagged_group_is_never_split():
    """R29."""
    rows = [vgpr(8, duration=50), vgpr(8, duration=50), vgpr(8, arrival=2, waves=2, duration=5)]
    record = happened(Case(rows, modules=2, policies={"stuck": SplitWhenStuck(threshold=2)}))
    assert record.cycle.tolist() == [0, 1, 50] and not record.splits.size


@pytest.mark.parametrize("rotation", [0, 1, 2, 3])
def test_v31_the_pointer_decides_whether_a_module_fits(rotation):
    """Free runs of 20, 16, 8 and 8 blocks: six waves of eight fit as 2, 2, 1, 1 and in no other rotation."""
    occupy = [Row(duration=90), vgpr(4, duration=90), vgpr(12, waves=2, duration=90)]
    turns = [Row(duration=90) for _ in range(rotation)]
    six = vgpr(8, waves=6, arrival=20, duration=1)
    case = Case([*occupy, *turns, six], units=4, vgpr=20, policies={"units": RotatedSplit(pointer="head")})
    record = happened(case)
    keeps_units_even(record)
    assert (record.cycle[-1] == 20) == (rotation == 0)


def test_r67_only_the_chosen_module_moves_its_pointer():
    """Four groups of one wave on two modules of two units: each module counts its own."""
    record = happened(Case([Row(duration=90) for _ in range(4)], modules=2, units=2))
    keeps_units_even(record)
    assert record.module.tolist() == [0, 1, 0, 1]
    assert record.sent.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]


@pytest.mark.parametrize(("tie", "modules"), [("lowest", [0, 1, 2, 0, 1, 2]), ("rotating", [0, 1, 2, 0, 1, 2])])
def test_e19_ties_between_modules(tie, modules):
    """Groups that leave before the next one: every module is as good as another."""
    stay = [Row(duration=90) for _ in modules]
    assert happened(Case(stay, modules=3, options={"module_tie": tie})).module.tolist() == modules
    leave = [Row(duration=1) for _ in modules]
    result = happened(Case(leave, modules=3, options={"module_tie": tie})).module.tolist()
    assert result == (modules if tie == "rotating" else [0] * 6)


@pytest.mark.parametrize(("stale", "promised"), [("keep", 1), ("forget", 0)])
def test_e18_a_stale_report_over_promises_and_is_caught(stale, promised):
    """Vector registers are probed in even cycles: at cycle 1 the report still says 16 unless it was forgotten."""
    rows = [vgpr(16, duration=20), vgpr(16, channel=1)]
    record = happened(Case(rows, policies={"probe": SharedRun(width=16, stale=stale)}))
    assert record.over_promised == promised
    assert record.cycle.tolist() == [0, 20]
    assert record.placement_searches == 2 + promised


def test_refused_by_fragmentation_counts_heads_that_would_fit_in_total():
    """Two holes of four blocks are eight blocks: the head is refused from cycle 7 to cycle 21."""
    rows = [vgpr(4, duration=d) for d in (4, 20, 4, 20)]
    record = happened(Case([*rows, vgpr(8, arrival=7)], policies={"placement": FirstFit()}))
    assert record.cycle.tolist() == [0, 1, 2, 3, 21]
    assert record.refused_by_fragmentation == 14


def test_v35_the_recent_past_ends_before_the_decision():
    """Executed at cycles 1, 2, 3 and 6; the four cycles before cycle 7 hold two."""
    past = Past()
    for cycle in range(7):
        past.executed(cycle, [[0, ONE, 0, 0, 0, 0]] if cycle in (1, 2, 3, 6) else [])
    assert past.recent(4, 0) == [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]


def test_instructions_are_spread_evenly_in_fixed_point():
    assert rates([10, 3, 0, 0, 0, 1], 1, 1, 4) == [10 * ONE // 4, 3 * ONE // 4, 0, 0, 0, ONE // 4]
    assert rates([10, 3, 0, 0, 0, 1], 1, 2, 4) == [5 * ONE // 4, 3 * ONE // 8, 0, 0, 0, ONE // 8]
    assert rates([7, 7, 21, 0, 0, 0], 1, 30, 60) == [4078, 4078, 12233, 0, 0, 0]  # 7/1800 and 21/1800 in 2**-20


def test_a_wave_of_a_split_group_executes_its_share_of_the_instructions():
    """R75, E12: 7, 7 and 21 instructions over 30 waves are no whole number a wave, and yet are executed.

    Each module has room for 29 of the 30 waves, which therefore go one by one, each where less was executed in the last
    16 cycles. With u a wave and a cycle: 0 and 0, lowest wins; u and 0; 2u and u; 3u and 3u; 5u and 5u; 8u and 7u.
    """
    fillers = [Row(duration=100, need={"shared": 16, "vgpr": 1}) for _ in range(2)]
    group = Row(arrival=2, waves=30, independent=True, duration=60, need={"vgpr": 1}, instructions=(7, 7, 21, 0, 0, 0))
    policies = {"stuck": SplitWhenStuck(threshold=1), "choice": LeastRecentEnergy(nx=16)}
    record = happened(Case([*fillers, group], modules=2, vgpr=30, slots=31, workgroups=31, policies=policies))
    assert record.splits.tolist() == [[3, 2, 30]]
    assert record.module.tolist()[2:8] == [0, 1, 1, 0, 0, 1]


def test_the_rate_of_a_part_is_rounded_once():
    """To the nearest, halves up, also where the product of all its numbers has more than 64 bits."""
    many, far = 1 << 42, 1 << 60
    for instructions in (0, 1, 7, 21, 999_999_937, many - 1, many):
        for sent, waves in ((1, 30), (29, 30), (30, 30), (1, 1 << 20), ((1 << 20) - 1, 1 << 20), (2, 3)):
            for duration in (1, 2, 7, 60, 1 << 21, (1 << 21) + 1, 10**15, far):
                exact = Fraction(instructions * sent * ONE, waves * duration)
                assert part_rate(instructions, sent, waves, duration) == floor(exact + Fraction(1, 2))


def test_v25_marks_take_turns_among_the_channels_that_fit():
    """Every channel is served once before any is served twice: largest gap 2 * 4 - 1 (V27)."""
    rows = [Row(channel=c) for c in range(4) for _ in range(6)]
    record = happened(Case(rows, slots=1, policies={"selection": ServedMarks()}))
    served = record.channel[record.group].reshape(6, 4)
    assert np.sort(served, axis=1).tolist() == [[0, 1, 2, 3]] * 6


def test_e3_without_priorities_a_channel_has_one_mark():
    """Two channels with a group of priority 1 and one of 2 each, lowest index for random.

    One label: 0 is marked, then 1; then both are, and 0 goes again. With two labels 0 had no mark for priority 2 yet.
    """
    rows = [Row(channel=channel, priority=p, duration=9) for channel in (0, 1) for p in (1, 2)]
    policies = {"priority": NoPriority(), "selection": ServedMarks(pick="lowest")}
    assert happened(Case(rows, policies=policies)).group.tolist() == [0, 2, 1, 3]


def test_ten_billion_cycles_stay_exact():
    far = 10**15
    rows = [vgpr(16, duration=10**10), vgpr(16), vgpr(16, arrival=far + 3, duration=7), vgpr(16, arrival=far + 3)]
    record = Case(rows).engine()
    assert record.cycle.tolist() == [0, 10**10, far + 3, far + 10]
    assert record.rounds == 10**10 + 1 + 1 + 7
    assert record.failed_rounds == 10**10 - 1 + 6


def test_s7_v6_groups_of_one_wave_take_no_barrier():
    """32 wave slots and 16 barriers: 32 groups of one wave run at once, 16 of two, 10 of three."""
    for waves, most in ((1, 32), (2, 16), (3, 10)):
        rows = [Row(waves=waves, duration=100)] * 40
        case = Case(rows, units=4, slots=8, workgroups=32, barriers=16, options={"dispatches_a_round": 40})
        record = happened(case)
        assert np.count_nonzero(record.cycle == 0) == most
        assert record.demand[:, record.resources.index("barriers")].tolist() == [int(waves > 1)] * 40


@pytest.mark.parametrize("shared", ["full", "divided"])
def test_s7_a_sub_group_of_one_wave_takes_no_barrier(shared):
    """The one barrier is taken: a group of two waves waits for it, and once it is split its waves need none."""
    rows = [Row(waves=2, duration=50), Row(waves=2, duration=5, independent=True)]
    stuck = SplitWhenStuck(threshold=2, shared=shared)
    record = happened(Case(rows, barriers=1, policies={"stuck": stuck}))
    assert record.splits.tolist() == [[3, 1, 2]]
    assert record.cycle.tolist() == [0, 4, 5]
    assert amounts(record)[:, record.resources.index("barriers")].tolist() == [1, 0, 0]
