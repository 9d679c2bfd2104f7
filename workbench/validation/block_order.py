"""Which block ran on which SM, and from when on: logs of blocks compared with the dispatcher's choices of a module.

A log (`workloads.importers.block_times`) holds the SM, the start and the end of each block. The engine gets the kernels
with the recorded durations of their blocks, each kernel when its first block started, and chooses the modules itself.
Nothing is fitted and every block is judged. Each card numbers its SMs in its own way. So a block counts as predicted if
it ran on the right SM under the best renaming of the SMs of its run. A cycle is a nanosecond. Registers and shared
memory count where the log says how much an SM has. No public log is known, so no facts are shipped and the table has
no row of it. `python -m benchmarks.on_a_card DIR` measures logs on a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from workbench.engines.dispatch import Dispatch
from workbench.engines.kit.engine import Setup
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.policies.policy import Policy, read_policy
from workbench.streams import Streams
from workbench.units import segments_for, waves_for
from workbench.validation.data_set import Curve, DataSet, Result, Verdict, mean_error
from workbench.workloads.importers.block_times import BlockLog, is_block_log, read_blocks
from workbench.workloads.kernels import MISSING
from workbench.workloads.workload import Groups, Workload

CHOICES = ("first_module", "round_robin", "least_waves", "most_residual")
RIVAL = "random_module"
_MOST_ELSEWHERE = 10.0
_MOST_LATE = 5.0
_SM_BAR = f"at most {_MOST_ELSEWHERE:g} % of the blocks on another SM, and fewer than with {RIVAL}"
_BEGIN_BAR = f"at most {_MOST_LATE:g} % of the mean duration of a block, and less than the rival's error"
_GRANULE_BYTES = 128
_MOST_PANELS = 4


def _extract(files: Sequence[Path]) -> pd.DataFrame:
    """Return one row a block; files that are no logs of blocks give none."""
    logs = [(path, read_blocks(path)) for path in files if is_block_log(path)]
    return pd.concat([_facts_of(path, log) for path, log in logs]) if logs else pd.DataFrame()


def _facts_of(path: Path, log: BlockLog) -> pd.DataFrame:
    if (log.module == MISSING).any():
        raise InputError(f"{path}: must have block_smids, the SM of each block. Got a log without them.")
    card = log.card
    threads = card.threads_a_unit or MISSING
    if threads == MISSING and not log.most_resident_threads:
        raise InputError(f"{path}: must have max_resident_threads, the threads that the card holds at once. Got none.")
    of_kernel = {
        "stream": log.streams,
        "threads": log.threads,
        "shared_bytes": log.shared_bytes,
        "registers": log.registers,
    }
    return pd.DataFrame(
        {
            "card": card.name or "a card without a name",
            "run": log.scenario or path.stem,
            "file": path.stem,
            "units": card.compute_units or MISSING,
            "wave_size": card.wave_size or 32,
            "threads_a_unit": threads,
            "resident_threads": log.most_resident_threads or MISSING,
            "blocks_a_unit": log.blocks_a_unit or MISSING,
            "registers_a_unit": card.registers_a_unit or MISSING,
            "shared_bytes_a_unit": card.shared_memory_bytes or MISSING,
            "kernel": log.kernel,
            **{name: np.array(values, np.int64)[log.kernel] for name, values in of_kernel.items()},
            "module": log.module,
            "start_ns": log.start_ns + log.first_ns,
            "end_ns": log.end_ns + log.first_ns,
        }
    )


def _fit(facts: pd.DataFrame) -> Mapping[str, Mapping[str, Any]]:
    return {}


def _judge(facts: pd.DataFrame, levers: Mapping[str, Mapping[str, Any]]) -> Sequence[Result]:
    results: list[Result] = []
    for card, own in facts.groupby("card", sort=False) if len(facts) else ():
        machine = _machine_of(own, str(card))
        runs = [_Run(str(name), rows.reset_index(drop=True)) for name, rows in own.groupby("run", sort=False)]
        rival = [_Outcome.of(run, machine, RIVAL) for run in runs]
        for choice in CHOICES:
            outcomes = [_Outcome.of(run, machine, choice) for run in runs]
            results += [_of_modules(choice, outcomes, rival), _of_begins(choice, outcomes)]
    return results


class _Run(NamedTuple):
    """The blocks of one experiment."""

    name: str
    rows: pd.DataFrame


class _Blocks(Workload):
    """The blocks of a run as groups: a channel for each stream of each file, kernels in the order of their starts."""

    random = False

    def __init__(self, rows: pd.DataFrame) -> None:
        object.__setattr__(self, "rows", rows)

    def groups(self, machine: Machine, streams: Streams) -> Groups:
        rows: pd.DataFrame = self.__dict__["rows"]
        waves = waves_for(rows["threads"].to_numpy(np.int64), machine.wave_size)
        registers = np.maximum(rows["registers"].to_numpy(np.int64), 0)
        shared = np.maximum(rows["shared_bytes"].to_numpy(np.int64), 0)
        known = (rows["registers_a_unit"] != MISSING).to_numpy(), (rows["shared_bytes_a_unit"] != MISSING).to_numpy()
        return Groups(
            arrival=rows["arrival"].to_numpy(np.int64),
            channel=rows["channel"].to_numpy(np.int64),
            priority=np.ones(len(rows), np.int64),
            waves=waves,
            independent=np.zeros(len(rows), bool),
            duration=(rows["end_ns"] - rows["start_ns"]).clip(lower=1).to_numpy(np.int64),
            demand={
                "vgpr": np.where(known[0], segments_for(registers, machine.vgpr_granule), 0),
                "shared": np.where(known[1], machine.request_segments(shared), 0),
            },
            instructions=np.zeros((len(rows), 6), np.int64),
            kernel=rows["launch"].to_numpy(np.int64),
        )


def _queued(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the blocks in the order in which a dispatcher gets them, with arrival, channel and launch."""
    origin = int(rows["start_ns"].min())
    keys = ["file", "kernel"]
    first = rows.groupby(keys)["start_ns"].transform("min")
    queued = rows.assign(arrival=first - origin, begin=rows["start_ns"] - origin)
    queued = queued.sort_values(["arrival", "file", "kernel"], kind="stable").reset_index(drop=True)
    launch, _ = pd.factorize(pd.MultiIndex.from_frame(queued[keys]))
    channel, _ = pd.factorize(pd.MultiIndex.from_frame(queued[["file", "stream"]]))
    return queued.assign(launch=launch, channel=channel)


class _Outcome(NamedTuple):
    """The SM and the begin of each block, on the card and under a choice, in the order of the queue."""

    run: str
    measured: np.ndarray
    """int64[blocks], the SM, as the card numbers it."""
    predicted: np.ndarray
    """int64[blocks], the SM under the renaming that fits best, -1 of a module that got no name."""
    begin: np.ndarray
    """float64[blocks], microseconds after the first block."""
    predicted_begin: np.ndarray
    arrival: np.ndarray
    """float64[blocks], the first begin of the kernel."""
    lasting: np.ndarray
    """float64[blocks], microseconds."""

    @classmethod
    def of(cls, run: _Run, machine: Machine, choice: str) -> _Outcome:
        queued = _queued(run.rows)
        options = Dispatch.options.read({"dispatches_a_round": 64})
        setup = Setup("dispatch", machine, _Blocks(queued), _policies(choice), options)
        record = Dispatch().simulate(setup, 0)
        module, begin = np.zeros(len(queued), np.int64), np.zeros(len(queued), np.int64)
        module[record.group], begin[record.group] = record.module, record.starts()
        measured = queued["module"].to_numpy(np.int64)
        return cls(
            run.name,
            measured,
            _renamed(module, measured, machine.compute_units),
            queued["begin"].to_numpy(float) / 1000,
            begin / 1000,
            queued["arrival"].to_numpy(float) / 1000,
            (queued["end_ns"] - queued["start_ns"]).to_numpy(float) / 1000,
        )


def _renamed(module: np.ndarray, measured: np.ndarray, units: int) -> np.ndarray:
    """Return the predicted modules under the names of the card's SMs with which most blocks agree.

    >>> _renamed(np.array([0, 1, 0, 2]), np.array([7, 3, 7, 7]), 3)
    array([ 7,  3,  7, -1])
    """
    names, place = np.unique(measured, return_inverse=True)
    counts = np.zeros((units, len(names)), np.int64)
    np.add.at(counts, (module, place), 1)
    renamed = np.full(units, -1)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    renamed[rows] = names[columns]
    return renamed[module]


def _policies(choice: str) -> dict[str, Policy]:
    """Return the engine's default policies with a choice of the module; kernels are served in the order of arrival."""
    changed = {
        "choice": choice,
        "priority": "no_priority",
        "selection": "oldest_first",
        "shared_placement": "first_fit",
    }
    slots = {**Dispatch().slots, **changed}
    return {slot: read_policy(Dispatch().question_of(slot), policy, slot) for slot, policy in slots.items()}


_OF_CARD = (
    "units",
    "wave_size",
    "threads_a_unit",
    "resident_threads",
    "blocks_a_unit",
    "registers_a_unit",
    "shared_bytes_a_unit",
)


def _machine_of(facts: pd.DataFrame, card: str) -> Machine:
    """Return the machine of a card: its SMs, and what its logs say of each."""
    known = {name: int(facts[name].max()) for name in _OF_CARD}
    units = max(known["units"], facts["module"].nunique())
    wave, simds = known["wave_size"], 4
    threads = known["threads_a_unit"] if known["threads_a_unit"] != MISSING else known["resident_threads"] // units
    waves = threads // wave // simds * simds
    if waves < simds:
        raise InputError(f"{card}: an SM must hold at least {simds * wave} threads. Got {threads}.")
    of_unit: dict[str, Any] = {}
    if known["registers_a_unit"] != MISSING:
        of_unit["vgprs_a_unit"] = known["registers_a_unit"]
    if known["shared_bytes_a_unit"] != MISSING:
        of_unit |= {"granule_bytes": _GRANULE_BYTES, "segments": known["shared_bytes_a_unit"] // _GRANULE_BYTES}
    return Machine(
        compute_units=units,
        wave_size=wave,
        simds_a_unit=simds,
        waves_a_unit=waves,
        workgroups_a_unit=known["blocks_a_unit"] if known["blocks_a_unit"] != MISSING else waves,
        sgprs_a_unit=0,
        vgpr_granule=8,
        clock_mhz=1000.0,
        **of_unit,
    )


def _of_modules(choice: str, outcomes: Sequence[_Outcome], rival: Sequence[_Outcome]) -> Result:
    error, rival_error = _elsewhere(outcomes), _elsewhere(rival)
    met = error <= _MOST_ELSEWHERE and error < rival_error
    return Result(
        f"{choice}: SM of a block",
        {},
        sum(len(one.measured) for one in outcomes),
        error,
        "% of blocks",
        float("nan"),
        RIVAL,
        rival_error,
        _verdict(met),
        _SM_BAR,
        [*_curves(outcomes, rival)],
        _order_in_words(outcomes[0]),
    )


def _elsewhere(outcomes: Sequence[_Outcome]) -> float:
    """Return the percentage of blocks that ran on another SM than predicted."""
    return float(100 * np.mean(np.concatenate([one.measured != one.predicted for one in outcomes])))


def _of_begins(choice: str, outcomes: Sequence[_Outcome]) -> Result:
    begin, predicted, arrival, lasting = (
        np.concatenate([getattr(one, name) for one in outcomes])
        for name in ("begin", "predicted_begin", "arrival", "lasting")
    )
    error, rival_error = mean_error(begin, predicted), mean_error(begin, arrival)
    return Result(
        f"{choice}: begin of a block",
        {},
        len(begin),
        error,
        "us",
        float("nan"),
        "the begin of its kernel",
        rival_error,
        _verdict(error <= _MOST_LATE / 100 * lasting.mean() and error < rival_error),
        _BEGIN_BAR,
    )


def _verdict(met: bool) -> Verdict:
    return "confirmed" if met else "refuted"


def _order_in_words(outcome: _Outcome) -> str:
    """Return in which order the SMs of a card got their first blocks, the first twelve."""
    order = list(dict.fromkeys(outcome.measured[np.argsort(outcome.begin, kind="stable")].tolist()))
    return f"in {outcome.run} the card began with the SMs {', '.join(map(str, order[:12]))}"


def _curves(outcomes: Sequence[_Outcome], rival: Sequence[_Outcome]) -> Iterator[Curve]:
    for one, other in zip(outcomes[:_MOST_PANELS], rival, strict=False):
        x = np.arange(len(one.measured), dtype=float)
        measured, predicted, by_rival = (each.astype(float) for each in (one.measured, one.predicted, other.predicted))
        yield Curve(one.run, "block", "SM", x, measured, predicted, by_rival, np.ones(len(x), bool), False)


SETS = (
    DataSet(
        "block_order",
        "dispatch",
        "any card",
        "SM and begin of each block",
        [],
        ["*.json"],
        _extract,
        _fit,
        _judge,
    ),
)
