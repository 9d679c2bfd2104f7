"""Random groups: against drawing them one by one, streams that do not disturb each other, loads, refusals."""

import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import random_groups
from tests.slow import examples
from workbench.machine import Machine, Resource, preset, read_machine
from workbench.machine.presets import preset_names
from workbench.streams import Streams
from workbench.workloads.generators import regimes
from workbench.workloads.synthetic.arrivals import Offered
from workbench.workloads.synthetic.random_groups import RandomGroups, busiest
from workbench.workloads.workload import Groups
from workbench.workloads.workload_key import read_workload

TICKETS = Resource(label="tickets", level="module", contiguous=False, blocks=16)
CACHE = Resource(label="cache", level="unit", contiguous=True, blocks=64)
MACHINE = preset("patent_dispatch").machine().but(more_resources=(TICKETS, CACHE))
WAVES = st.sampled_from([{"uniform": [1, 16]}, {"bimodal": {"small": [1, 2], "large": [12, 16]}}, 7])
BLOCKS = st.sampled_from([0, 3, {"uniform": [1, 8]}, {"sometimes": {"share": 0.3, "law": {"powers_of_two": [1, 8]}}}])
DURATIONS = st.sampled_from([{"uniform": [100, 900]}, {"exponential": 50}, 20])
GRIDS = st.sampled_from([1, 5, {"uniform": [1, 9]}, {"geometric": 3}])
FURTHER = st.sampled_from([(), ({"label": "cache", "blocks": {"uniform": [1, 4]}},)])
WORKLOADS = st.builds(
    RandomGroups,
    count=st.integers(1, 60),
    grid=GRIDS,
    channels=st.just(3),
    channel_weights=st.sampled_from([(), (1, 0, 3)]),
    priority=st.sampled_from([{"uniform": [1, 4]}, {"empirical": {"outcomes": [1, 8], "weights": [1, 3]}}, 2]),
    waves=WAVES,
    independent=st.sampled_from([0, 0.5, 1]),
    independent_from=st.sampled_from([1, 8]),
    duration=DURATIONS,
    vgpr_blocks=BLOCKS,
    sgpr_blocks=BLOCKS,
    shared_segments=BLOCKS,
    further_blocks=BLOCKS,
    further=FURTHER,
    instructions=st.sampled_from(["instruction_mix", "no_instructions", {"instruction_laws": {"load": 9}}]),
    arrival=st.sampled_from(["all_at_once", "poisson", "poisson_load", {"bursts": [4, 1.0]}]),
)
SEEDS = st.integers(0, 2**40)


def lists(groups: Groups) -> dict[str, list]:
    columns = {name: column.tolist() for name, column in groups._asdict().items() if hasattr(column, "tolist")}
    return {**columns, **{f"demand {label}": blocks.tolist() for label, blocks in groups.demand.items()}}


def laws_by_label(workload):
    own = {demand.label: demand.blocks for demand in workload.further}
    return {
        "vgpr": workload.vgpr_blocks,
        "sgpr": workload.sgpr_blocks,
        "shared": workload.shared_segments,
        "tickets": own.get("tickets", workload.further_blocks),
        "cache": own.get("cache", workload.further_blocks),
    }


@examples(25, 300)
@given(WORKLOADS, SEEDS)
def test_every_column_is_what_drawing_group_by_group_gives(workload, seed):
    result = lists(workload.groups(MACHINE, Streams(seed)))
    row = 0
    for kernel in random_groups.kernels(workload, seed, laws_by_label(workload)):
        for _ in range(kernel["grid"]):
            for column in ("channel", "priority", "waves", "duration", *(c for c in result if c.startswith("demand"))):
                assert result[column][row] in kernel[column], column
            big_enough = result["waves"][row] >= workload.independent_from
            assert result["independent"][row] == (kernel["flagged_by_rank"] and big_enough)
            row += 1
    assert {len(column) for column in result.values()} == {row} == {workload.count}


@given(WORKLOADS, SEEDS)
def test_columns_have_the_types_and_the_order_that_engines_rely_on(workload, seed):
    groups = workload.groups(MACHINE, Streams(seed))
    whole = [column for name, column in groups._asdict().items() if hasattr(column, "dtype") and name != "independent"]
    assert {column.dtype for column in (*whole, *groups.demand.values())} == {np.dtype(np.int64)}
    assert all(column.flags.c_contiguous and column.flags.writeable for column in (*whole, *groups.demand.values()))
    assert groups.independent.dtype == bool
    assert groups.instructions.shape == (workload.count, 6)
    assert (np.diff(groups.arrival) >= 0).all()
    assert list(groups.demand) == ["vgpr", "sgpr", "cache", "shared", "tickets"]


@given(WORKLOADS, SEEDS)
def test_the_same_seed_gives_the_same_bits_even_after_pickling(workload, seed):
    again = pickle.loads(pickle.dumps(workload))
    assert lists(workload.groups(MACHINE, Streams(seed))) == lists(again.groups(MACHINE, Streams(seed)))


CHANGES = {
    "waves": (16, {"waves", "independent", "instructions"}),
    "duration": (77, {"duration", "instructions"}),
    "vgpr_blocks": (2, {"demand vgpr"}),
    "sgpr_blocks": (2, {"demand sgpr"}),
    "shared_segments": (2, {"demand shared"}),
    "further_blocks": (1, {"demand tickets", "demand cache"}),
    "priority": ({"uniform": [1, 8]}, {"priority"}),
    "channel_weights": ((9, 1, 1), {"channel"}),
    "independent": (0.25, {"independent"}),
    "instructions": ("no_instructions", {"instructions"}),
    "arrival": ({"poisson": 2}, {"arrival"}),
}


@given(st.sampled_from(sorted(CHANGES)), WORKLOADS, SEEDS)
def test_changing_one_law_leaves_the_other_draws_as_they_are(lever, workload, seed):
    workload = workload.but(arrival="poisson")
    value, touched = CHANGES[lever]
    before = lists(workload.groups(MACHINE, Streams(seed)))
    after = lists(workload.but(**{lever: value}).groups(MACHINE, Streams(seed)))
    assert {column for column in before if before[column] != after[column]} <= touched


@given(WORKLOADS, SEEDS, st.integers(1, 60))
def test_a_longer_queue_begins_with_the_shorter_one(workload, seed, more):
    workload = workload.but(arrival="poisson")
    short = lists(workload.groups(MACHINE, Streams(seed)))
    long = lists(workload.but(count=workload.count + more).groups(MACHINE, Streams(seed)))
    assert {column: rows[: workload.count] for column, rows in long.items()} == short


@given(WORKLOADS, SEEDS)
def test_groups_of_a_kernel_are_alike_and_arrive_together(workload, seed):
    drawn = workload.but(grid=4, instructions="instruction_mix").groups(MACHINE, Streams(seed))
    rows = np.column_stack([drawn.arrival, drawn.channel, drawn.waves, *drawn.demand.values(), drawn.instructions])
    for first in range(0, workload.count, 4):
        assert (rows[first : first + 4] == rows[first]).all()


@pytest.mark.parametrize(("arrival", "together"), [({"poisson_load": 0.7}, 1), ({"bursts": [4, 0.7]}, 4)])
@pytest.mark.parametrize("blocks", [1, 8])
@pytest.mark.parametrize("grid", [1, 2])
def test_a_load_is_the_busy_share_of_the_resource_that_is_asked_for_most(arrival, together, blocks, grid):
    workload = RandomGroups(count=20_000, vgpr_blocks=blocks, grid=grid, arrival=arrival)
    groups = workload.groups(MACHINE, Streams(4))
    result = random_groups.load(MACHINE, groups, int(groups.arrival[-1]))
    assert float(result) == pytest.approx(0.7, rel=5 * (together * grid / workload.count) ** 0.5)


def test_every_channel_may_have_a_priority_of_its_own():
    workload = RandomGroups(count=500, channels=8, priority_by="channel", priority={"uniform": [1, 4]})
    drawn = workload.groups(MACHINE, Streams(1))
    assert {(c, p) for c, p in zip(drawn.channel.tolist(), drawn.priority.tolist(), strict=True)} == {
        (c, 1 + c // 2) for c in range(8)
    }


def test_what_is_correlated_is_so_with_the_waves():
    correlated = {"correlated": {"law": {"uniform": [1, 4]}, "rank_correlation": -1}}
    drawn = RandomGroups(count=5000, priority=correlated, sgpr_blocks=correlated).groups(MACHINE, Streams(1))
    for column in (drawn.priority, drawn.demand["sgpr"]):
        assert np.corrcoef(column, drawn.waves)[0, 1] < -0.9


def test_a_machine_is_not_asked_for_what_it_does_not_have():
    assert list(RandomGroups(count=3).groups(read_machine("h100"), Streams(1)).demand) == ["vgpr", "shared"]
    assert list(RandomGroups(count=3).groups(read_machine("mi300x"), Streams(1)).demand) == ["vgpr", "sgpr", "shared"]


def test_a_load_counts_barriers():
    waves, nothing = np.array([1, 2]), np.zeros(2, np.int64)
    machine = Machine(compute_units=1, barriers_a_module=2)
    offered = busiest(machine, waves, {"vgpr": nothing, "sgpr": nothing, "shared": nothing}, np.array([100, 100]))
    assert offered == Offered(work=100, capacity=2)


def test_what_is_asked_for_by_name_and_is_not_there_is_refused():
    """The default stands for whatever a machine has; a law of one's own would be dropped without a word."""
    given = {"synthetic": "random_groups", "sgpr_blocks": {"uniform": [1, 2]}}
    workload = read_workload(given, "workload", "a.yaml", None, "groups")
    assert refusal(workload.check_machine, read_machine("h100"), "workload", "a.yaml") == (
        "a.yaml: workload.sgpr_blocks must be left out or 0, for the machine reserves no scalar registers "
        "(machine.sgprs_a_unit 0). Got 'uniform(high=2)'. Nearest: 0."
    )
    assert not refusal(RandomGroups(sgpr_blocks=0).check_machine, read_machine("h100"))
    assert "further_blocks must be left out or 0" in refusal(RandomGroups(further_blocks=3).check_machine, Machine())
    assert not refusal(workload.check_machine, Machine(), "workload")


@pytest.mark.parametrize("name", preset_names(Machine))
def test_the_default_fits_every_preset(name):
    assert len(RandomGroups(count=10).groups(preset(name).machine(), Streams(1)).waves) == 10


@pytest.mark.parametrize(
    ("levers", "says"),
    [
        ({"waves": {"uniform": [1, 41]}}, "waves must be at most 40, all that a module has slots for. Got up to 41. "
         "Nearest: uniform.high = 40."),
        ({"vgpr_blocks": {"uniform": [1, 33]}}, "vgpr_blocks must be at most 32, as 4 of its 16 waves share a unit of "
         "128 blocks. Got up to 33. Nearest: uniform.high = 32."),
        ({"waves": 40, "sgpr_blocks": 7}, "sgpr_blocks must be at most 6, as 10 of its 40 waves share a unit of 64 "
         "blocks. Got up to 7. Nearest: constant.value = 6."),
        ({"shared_segments": 129}, "shared_segments must be at most 128, all that a module has. Got up to 129. "
         "Nearest: constant.value = 128."),
        ({"further_blocks": 17}, "further_blocks must be at most 16, as 4 of its 16 waves share a unit of "
         "64 blocks. Got up to 17. Nearest: constant.value = 16."),
        ({"further": [{"label": "cache", "blocks": {"empirical": [1, 17]}}]}, "further[0].blocks must be at most 16, "
         "as 4 of its 16 waves share a unit of 64 blocks. Got up to 17."),
        ({"further": [{"label": "cash", "blocks": 1}]}, "further[0]: unknown resource 'cash'; there are cache, "
         "tickets. Did you mean cache?"),
    ],
)  # fmt: skip
def test_laws_that_may_never_fit_are_refused_before_anything_is_drawn(levers, says):
    workload = RandomGroups(**levers)
    assert refusal(workload.groups, MACHINE, None) == f"random_groups.{says}"
    assert refusal(workload.check_machine, MACHINE, "workload", "a.yaml") == f"a.yaml: workload.{says}"


def test_a_machine_without_whole_blocks_is_refused_with_its_place():
    message = refusal(RandomGroups().check_machine, Machine(vgprs_a_unit=512), "workload", "a.yaml")
    assert message.startswith("a.yaml: machine.vgprs_a_unit must give each of the 4 SIMDs")


@pytest.mark.parametrize(
    ("levers", "says"),
    [
        ({"channels": 65}, "channels must be a whole number from 1 to 64. Got 65. Nearest: 64."),
        ({"channel_weights": [1, 2]}, "channel_weights must be as many as channels (4), or none. Got [1.0, 2.0]."),
        ({"channel_weights": [0, 0, 0, 0]}, "channel_weights must not all be zero. Got [0.0, 0.0, 0.0, 0.0]."),
        ({"priority": {"uniform": [1, 9]}}, "priority must be at most 8. Got up to 9. Nearest: uniform.high = 8."),
        ({"priority": 0}, "priority must draw at least 1. Got constant(value=0), which may draw 0."),
        ({"waves": "sometimes"}, "waves must draw at least 1. Got sometimes, which may draw 0."),
        ({"grid": 0}, "grid must draw at least 1."),
        ({"duration": 0}, "duration must draw at least 1."),
        ({"waves": "correlated"}, "waves must not be correlated: it is drawn before all others."),
        ({"grid": "correlated"}, "grid must not be correlated: it is drawn before all others."),
        ({"independent": 1.5}, "independent must be a number from 0 to 1. Got 1.5. Nearest: 1."),
        ({"further": [{"blocks": 1}]}, "further[0] needs label (the resource,"),
        ({"vgpr_blox": 3}, ": unknown key 'vgpr_blox'; there are arrival,"),
    ],
)
def test_what_is_wrong_is_said_with_its_path(levers, says):
    message = refusal(read_workload, {"synthetic": "random_groups", **levers}, "workload", "a.yaml", None, "groups")
    assert message.startswith(f"a.yaml: workload{'' if says.startswith(':') else '.'}{says}")


@pytest.mark.parametrize("name", list(regimes("groups")))
def test_a_regime_serves_the_machine_that_it_is_stated_for(name):
    regime = regimes("groups")[name]
    workload = regime.workload.but(count=min(regime.workload.count, 2000))
    drawn = workload.groups(read_machine(regime.machine), Streams(3))
    assert len(drawn.waves) == workload.count
    assert regime.source.startswith(("spec 3", "the load of the benchmark"))


def drawn_of(name, count=4000):
    regime = regimes("groups")[name]
    return regime.workload.but(count=count).groups(read_machine(regime.machine), Streams(5))


def test_regimes_hold_what_their_hypotheses_need():
    blocking = drawn_of("head_of_line")
    assert set(blocking.waves[blocking.priority == 1].tolist()) == set(range(24, 33))
    assert blocking.waves[blocking.priority > 1].max() <= 4
    stuck = drawn_of("stuck")
    assert stuck.waves[stuck.independent].min() >= 36
    assert stuck.waves[~stuck.independent].max() <= 3
    kernels = drawn_of("concurrent_kernels")
    assert len(np.unique(kernels.channel)) == 8
    large = drawn_of("large_groups")
    assert 0.08 < (large.waves >= 28).mean() < 0.12


def test_the_highest_priority_alone_starves_the_others():
    machine, groups = read_machine("patent_dispatch"), drawn_of("starvation", 8000)
    first = groups.take(np.flatnonzero(groups.priority == 1))
    assert random_groups.load(machine, first, int(groups.arrival[-1])) > 1


def test_the_same_bits_as_on_the_day_they_were_first_drawn():
    """Golden: printed by this code on 2026-11-21 (NumPy 2.4.6, x86-64); stored runs rest on these draws."""
    workload = RandomGroups(count=500, grid={"uniform": [1, 4]}, arrival={"poisson_load": 0.9})
    reply = hashlib.sha256()
    for column in lists(workload.groups(preset("patent_dispatch").machine(), Streams(2026))).values():
        reply.update(np.array(column, "<i8").tobytes())
    assert reply.hexdigest() == "c6300d5630e2e33ca2fc9962ecb4dfb23e8b9a760f15615b81f1554582a2241f"


def test_a_million_groups_take_less_than_250_megabytes():
    import tracemalloc

    workload = RandomGroups(count=1_000_000, arrival={"poisson_load": 1.2})
    tracemalloc.start()
    groups = workload.groups(MACHINE, Streams(1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(groups.waves) == 1_000_000
    assert peak < 250e6
