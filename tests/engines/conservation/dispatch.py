"""What every run of the engine `dispatch` conserves, whatever its policies (spec 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engines.conservation.laws import Law, Run, Suite
from tests.engines.dispatch_cases import Case, Row
from tests.engines.dispatch_laws import assert_lawful
from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.machine import ClassPower, RcHeat
from workbench.metrics.dispatch_modules import execution_spans, total_pj, windows
from workbench.metrics.dispatch_rows import amounts
from workbench.policies.dispatch import LeastRecentEnergy, NeverSplit, SplitWhenStuck
from workbench.structures.execution_rates import RATE_UNIT

MIXED = (7, 21, 0, 7, 1, 3)
NEED = {"vgpr": 1, "shared": 2}


def symmetric(count: int) -> list[Row]:
    """Groups that are all alike and come at once: every choice is a tie."""
    like = Row(waves=5, duration=12, independent=True, need=NEED, instructions=MIXED)
    return [like._replace(channel=k % 3) for k in range(count)]


def skewed() -> list[Row]:
    """One group of 8 waves and 7 matrix instructions behind small ones that fill the modules unevenly."""
    small = Row(waves=1, duration=40, need={"vgpr": 3, "shared": 9}, instructions=(1, 0, 2, 0, 0, 5))
    large = Row(waves=8, duration=61, independent=True, need={"vgpr": 2, "shared": 4}, instructions=(0, 0, 0, 7, 0, 0))
    late = Row(arrival=3, channel=1, priority=2, waves=3, duration=7, need={"sgpr": 2}, instructions=MIXED)
    tied = large._replace(arrival=3, channel=2, waves=5, duration=30, instructions=(5, 3, 1, 999, 0, 2))
    return [*[small] * 3, large, late, tied, late._replace(arrival=9, independent=True), small._replace(priority=4)]


SPLITS = SplitWhenStuck(threshold=1)
POWER = {"power": ClassPower(), "heat": RcHeat(step_cycles=16, capacity_j_per_k=1e-6)}


def world(rows: list[Row], stuck: Any = SPLITS, units: int = 2, **machine: Any) -> Setup:
    usual = {"choice": LeastRecentEnergy(nx=16), "stuck": stuck}
    return Case(rows, units=units, policies=usual, options=POWER, **machine).setup()


WORLDS = {
    "ties in one module": world(symmetric(9), modules=1),
    "ties in three modules": world(symmetric(9), modules=3, slots=4),
    "ties in eight modules, whole": world(symmetric(20), NeverSplit(), modules=8, slots=4),
    "skewed in one module": world(skewed(), modules=1),
    "skewed in three modules, whole": world(skewed(), NeverSplit(), modules=3, slots=4),
    "skewed in three modules": world(skewed(), modules=3, slots=5),
    "skewed in eight modules of a unit": world(skewed(), modules=8, units=1, slots=8),
}
"""Groups are split unless said."""

FITTED: dict[str, tuple[dict[str, Any], ...]] = {
    "split_when_stuck": ({"threshold": 1},),
    "backfill": ({}, {"upstream": SPLITS}),
    "grouped_run": ({"groups": 4},),
    "grouped_sampled_run": ({"groups": 4},),
    "shared_run": ({"width": 20},),
    "partition_by_channel": ({"parts": "0 | 0 | 0"},),
    "partition_by_kernel": ({"parts": "0 | 0 | 0"},),
}
REFUSED = dict.fromkeys(
    ("placement=compaction", "shared_placement=compaction"),
    "spec 1, section 7: a bound for one shared memory; modules move nothing",
)


def by_group(record: Any, values: np.ndarray) -> np.ndarray:
    """Add up what dispatches have, by group."""
    sums = np.zeros((len(record.arrival), *values.shape[1:]), np.int64)
    np.add.at(sums, record.group, values)
    return sums


def column(run: Run, name: str) -> np.ndarray:
    return np.array([getattr(row, name) for row in run.setup.workload.rows])


def life(record: Any) -> np.ndarray:
    return np.asarray(record.duration[record.group])


def needed(run: Run, of_unit: bool) -> np.ndarray:
    """Return the blocks that all groups need of each resource of units, or of modules."""
    of = run.record.of_unit if of_unit else ~run.record.of_unit
    each = run.record.demand[:, of]
    return np.asarray((each * column(run, "waves")[:, None] if of_unit else each).sum(axis=0))


def energy_due(run: Run) -> float:
    return float(column(run, "instructions").sum(axis=0) @ run.record.power.energies_pj())


def energy_rounded(run: Run) -> float:
    """E23: each dispatch and class misses its share by half of 2^-20 a cycle at most."""
    return float(life(run.record).sum() * run.record.power.energies_pj().sum() / 2**21)


def counted_by_the_engine(run: Run) -> np.ndarray:
    """Return what the engine's history has counted by module and class; nothing where no policy reads the past."""
    return np.asarray(run.play.state.issued)


def counted_by_the_measure(run: Run) -> np.ndarray:
    """Return the same up to the cycle that each module's history has come to."""
    record, state = run.record, run.play.state
    counts, spans = np.zeros_like(state.issued), execution_spans(record)
    if run.play.columns.rates.size:
        elapsed = np.clip(state.issued_at[record.module] - record.cycle, 0, life(record))
        np.add.at(counts, record.module, spans.rates * elapsed[:, None])
    return counts


SPLITTING = "E12: a sub-group demands all of the shared demand unless declared divisible"
SLOWER = "R13: scattered allocation is an ablation with an address a piece, which the lever access_penalty charges"

LAWS = [
    Law(
        "waves of each group",
        "spec 3, R26, R28",
        got=lambda run: by_group(run.record, run.record.sent.sum(axis=1)),
        due=lambda run: column(run, "waves"),
    ),
    Law(
        "instructions of each group by class, in 2^-20",
        "spec 3, E23",
        got=lambda run: by_group(run.record, execution_spans(run.record).rates * life(run.record)[:, None]),
        due=lambda run: column(run, "instructions") * RATE_UNIT,
        within=lambda run: by_group(run.record, life(run.record))[:, None] / 2,
    ),
    Law(
        "energy of all instructions",
        "spec 3, R76, E23",
        got=lambda run: total_pj(run.record, execution_spans(run.record)),
        due=energy_due,
        within=energy_rounded,
    ),
    Law(
        "energy of all windows",
        "spec 3, R76, E23",
        got=lambda run: sum(float(chunk.sum()) for chunk in windows(run.record, 16)),
        due=energy_due,
        within=energy_rounded,
    ),
    Law(
        "instructions that the engine's history counts are those that the measures count",
        "spec 3, R75, E23",
        got=counted_by_the_engine,
        due=counted_by_the_measure,
    ),
    Law(
        "cycles of all waves",
        "spec 3, E23",
        got=lambda run: int((run.record.sent.sum(axis=1) * life(run.record)).sum()),
        due=lambda run: int((column(run, "waves") * column(run, "duration")).sum()),
        allowed=dict.fromkeys(("placement=paged_memory", "shared_placement=paged_memory"), SLOWER),
    ),
    Law(
        "blocks of units' resources",
        "spec 3, R6, R12, E12",
        got=lambda run: amounts(run.record)[:, run.record.of_unit].sum(axis=0),
        due=lambda run: needed(run, of_unit=True),
    ),
    Law(
        "blocks of modules' resources",
        "spec 3, R12",
        got=lambda run: amounts(run.record)[:, ~run.record.of_unit].sum(axis=0),
        due=lambda run: needed(run, of_unit=False),
        allowed=dict.fromkeys(("stuck=split_when_stuck", "stuck=backfill"), SPLITTING),
    ),
]


def check(run: Run) -> None:
    """R2, R6, R12: nothing is given twice, and the order of channels is kept."""
    assert_lawful(Case(run.setup.workload.rows, policies=run.setup.policies), run.record)


SUITE = Suite(Dispatch(), WORLDS, LAWS, FITTED, REFUSED, check)
