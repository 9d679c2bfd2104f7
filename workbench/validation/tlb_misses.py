"""Misses of the first-level TLBs of AMD units in a copy of vectors (ROCm/rocprofiler-compute, vcopy).

Each workgroup reads its part of one array and writes the same part of another. So a unit misses once for each page that
its workgroups touch, and the count tells how workgroups are placed. The engine `dispatch` places them, the engine
`translation` looks up their pages. Nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.policies.policy import read_policy
from workbench.records.dispatch import DispatchRecord
from workbench.streams import Streams
from workbench.units import waves_for
from workbench.validation.data_set import (
    MOST_GROUPS,
    Curve,
    DataSet,
    Result,
    Source,
    Verdict,
    csv_rows,
    percent_error,
)
from workbench.validation.tlb_runs import SEED, in_order, misses, run_accesses
from workbench.workloads.workload import Groups, Workload

COUNTER = "TCP_UTCL1_TRANSLATION_MISS_sum"
KERNEL = "vecCopy"
ELEMENT_BYTES = 8
"""Of a double, one a thread in each of two arrays, which begin on a page."""
DURATION = 100_000
"""Cycles of a workgroup: all equal, and more than the dispatcher needs to fill the card with one workgroup a cycle."""
RIVAL = "pages of 64 KiB"
BAR = "the mean error over all dispatches is at most 1 %"
MOST_ERROR = 1.0


class Law(NamedTuple):
    """How workgroups are placed, and how large pages are."""

    choice: str
    die: str = "any_die"
    page_kb: int = 2048

    @property
    def words(self) -> str:
        """Return the law in words."""
        die = "" if self.die == "any_die" else f", {self.die}"
        return f"{self.choice}{die}, pages of {self.page_kb} KiB"


_BREADTH_FIRST = Law("least_waves")
_LAWS = (_BREADTH_FIRST, Law("round_robin"), Law("first_module"), Law("best_fit_module"))
_PAGES = (Law("least_waves", page_kb=64), Law("least_waves", page_kb=4))
_LAWS_OF_DIES = (Law("least_waves", "round_robin_dies"),)
"""Laws of cards with several dies."""


class Card(NamedTuple):
    """A card and a kernel, in the columns of the facts."""

    card: str
    units: int
    dies: int
    simds: int
    waves: int
    """Wave slots of a unit."""
    wave_size: int
    threads: int
    """Of the grid."""
    group: int
    """Threads of a workgroup."""


_COLUMNS = [*Card._fields, "misses", "dispatches"]
_SYSTEM = {"units": "cu_per_gpu", "dies": "num_xcd", "simds": "simd_per_cu", "waves": "max_waves_per_cu"} | {
    "wave_size": "wave_size"
}
"""Columns of `sysinfo.csv`."""


def read_workload(counts: Path, system: Path | None) -> list[tuple[Card, int]]:
    """Return card and misses of each dispatch of the copy; none where the counter was not asked for.

    Raises
    ------
    InputError
        A file is not of the format; the sentence names it.
    """
    rows = csv_rows(counts)
    if "Kernel_Name" not in rows[0]:
        raise InputError(f"{counts}: must have a column Kernel_Name, as rocprof-compute writes it.")
    rows = [row for row in rows if COUNTER in row and str(row["Kernel_Name"]).startswith(KERNEL)]
    if not rows:
        return []
    if system is None:
        raise InputError(f"{counts}: needs sysinfo.csv of the same folder, which names the card and its units.")
    (about, *_) = csv_rows(system)
    for column in ("gpu_model", *_SYSTEM.values()):
        if column not in about:
            raise InputError(f"{system}: must have a column {column}.")
    figures = {name: _whole(system, about, column) for name, column in _SYSTEM.items()}
    if figures["units"] % figures["dies"]:
        raise InputError(f"{system}: num_xcd ({figures['dies']}) must divide cu_per_gpu ({figures['units']}).")
    return [
        (
            Card(str(about["gpu_model"]), **figures, **_grid(counts, row)),
            _whole(counts, row, COUNTER, least=0),
        )
        for row in rows
    ]


def _grid(path: Path, row: Mapping[str, str]) -> dict[str, int]:
    threads, group = _whole(path, row, "Grid_Size"), _whole(path, row, "Workgroup_Size")
    if threads > group * MOST_GROUPS:
        raise InputError(f"{path}: a dispatch must have at most {MOST_GROUPS} workgroups. Got {threads // group}.")
    return {"threads": threads, "group": group}


def _whole(path: Path, row: Mapping[str, str], column: str, least: int = 1) -> int:
    text = row.get(column)
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not (value.is_integer() and value >= least):
        raise InputError(f"{path}: {column} must be a whole number, {least} at least. Got {text!r}.")
    return int(value)


_KNOWN = {"mi100_tlb_misses": "MI100", "mi300a_tlb_misses": "MI300A_A1", "mi300x_tlb_misses": "MI300X_A1"}
OTHER = "tlb_misses_of_other_cards"
"""The data set of all other cards, which ships no facts."""


def _extract(name: str, files: Sequence[Path]) -> pd.DataFrame:
    systems = {path.parent: path for path in files if path.name == "sysinfo.csv"}
    counts: dict[tuple[Any, ...], int] = {}
    for path in files:
        if path.name != "sysinfo.csv":
            for card, missed in read_workload(path, systems.get(path.parent)):
                if name == next((known for known, model in _KNOWN.items() if model == card.card), OTHER):
                    counts[*card, missed] = counts.get((*card, missed), 0) + 1
    return pd.DataFrame([(*key, count) for key, count in sorted(counts.items())], columns=_COLUMNS)


def _fit(facts: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {}


def _judge(name: str, facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> list[Result]:
    results = []
    for key, rows in facts.groupby(list(Card._fields), sort=False):
        model, *figures = key
        card = Card(str(model), *(int(str(figure)) for figure in figures))
        measured = np.repeat(rows["misses"].to_numpy(float), rows["dispatches"].to_numpy(int))
        laws = (*_LAWS, *(_LAWS_OF_DIES if card.dies > 1 else ()), *_PAGES)
        results += [_result(name, card, law, measured) for law in laws]
    return results


def _result(name: str, card: Card, law: Law, every: np.ndarray) -> Result:
    measured = every[every > 0]  # 0 is "not collected"
    predicted = np.full(measured.size, float(predicted_misses(card, law)))
    rival = np.full(measured.size, float(predicted_misses(card, _BREADTH_FIRST._replace(page_kb=64))))
    tested = measured.size > 0
    error = percent_error(measured, predicted) if tested else float("nan")
    of_rival = percent_error(measured, rival) if tested else float("nan")
    verdict: Verdict = "not tested"
    note = "no dispatch has a count"
    if tested:
        verdict = "confirmed" if error <= MOST_ERROR and error <= of_rival else "refuted"
        equal, median = int((measured == predicted).sum()), float(np.median(100 * np.abs(predicted / measured - 1)))
        note = f"predicted {predicted[0]:,.0f}; {equal} of {measured.size} dispatches are equal, "
        note += f"median error {median:.2f} %"
    return Result(
        law=law.words + (f", {card.card}" if name == OTHER else ""),
        fitted={},
        points=measured.size,
        error=error,
        unit="%",
        r2=float("nan"),
        rival=RIVAL,
        rival_error=of_rival,
        verdict=verdict,
        bar=BAR,
        curves=[
            Curve(
                "misses of each dispatch",
                "dispatch, by misses",
                "misses",
                np.arange(measured.size, dtype=float),
                measured,
                predicted,
                rival,
                np.ones(measured.size, bool),
                joined=False,
            )
        ],
        note=note,
        alternative=law.choice in ("first_module", "best_fit_module") or law.page_kb == 64,
    )


class GivenGroups(Workload):
    """Workgroups of one kernel, all alike, which wait in one queue from the beginning."""

    random = False

    def __init__(self, count: int, threads: int) -> None:
        object.__setattr__(self, "count", count)
        object.__setattr__(self, "threads", threads)

    def groups(self, machine: Machine, streams: Streams) -> Groups:
        count, threads = self.__dict__["count"], self.__dict__["threads"]
        nothing = np.zeros(count, np.int64)
        return Groups(
            arrival=nothing,
            channel=nothing,
            priority=nothing + 1,
            waves=nothing + waves_for(threads, machine.wave_size),
            independent=nothing.astype(bool),
            duration=nothing + DURATION,
            demand={},
            instructions=np.zeros((count, 6), np.int64),
        )


@cache
def predicted_misses(card: Card, law: Law) -> int:
    """Return the misses of all units in one dispatch of the copy."""
    record = _placed(card, law.choice, law.die)
    page_bytes, group_bytes = law.page_kb * 1024, card.group * ELEMENT_BYTES
    first = record.group.astype(np.int64) * group_bytes // page_bytes
    second = first + -(-card.threads * ELEMENT_BYTES // page_bytes)
    pages, times = np.concatenate([first, second]), np.tile(record.cycle, 2)
    machine = {"cores": card.units, "page_bytes": page_bytes, "shared_entries": 0, "walkers": 4096}
    return misses(run_accesses(in_order(times, np.tile(record.module, 2), pages), machine))


@cache
def _placed(card: Card, choice: str, die: str) -> DispatchRecord:
    """Return the record of the workgroups of the copy."""
    slots = {**Dispatch.slots, "choice": choice, "die": die}
    read = {
        slot: read_policy(Dispatch().question_of(slot), policy, slot)
        for slot, policy in slots.items()
        if policy not in slots
    }
    policies = {slot: read[slots[slot] if slots[slot] in slots else slot] for slot in slots}
    machine = Machine(
        compute_units=card.units,
        dies=(card.units // card.dies,) * card.dies if card.dies > 1 else (),
        simds_a_unit=card.simds,
        waves_a_unit=card.waves,
        wave_size=card.wave_size,
    )
    workload = GivenGroups(-(-card.threads // card.group), card.group)
    return Dispatch().simulate(Setup("dispatch", machine, workload, policies, Dispatch.options()), SEED)


def _data_sets() -> Iterator[DataSet]:
    for name, card in {**_KNOWN, OTHER: "*"}.items():
        path = f"tests/workloads/*/{card}/pmc_perf.csv and sysinfo.csv"
        yield DataSet(
            name=name,
            engine="translation",
            card="the card of each file" if name == OTHER else f"AMD Instinct {card.removesuffix('_A1')}",
            measures="first-level TLB misses of a vector copy",
            sources=(Source("ROCm/rocprofiler-compute", "95b600ea582f", path, "MIT"),),
            files=("pmc_perf.csv", "sysinfo.csv"),
            extract=partial(_extract, name),
            fit=_fit,
            judge=partial(_judge, name),
        )


SETS: tuple[DataSet, ...] = tuple(_data_sets())
