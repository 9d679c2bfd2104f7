"""Lost residency on many traces: two tables, one of granules and one of rules, with what each trace does not tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import InputError
from workbench.machine import Machine
from workbench.machine.presets import preset, preset_for_device
from workbench.studies.residency.by_granule import GRANULES, by_granule
from workbench.studies.residency.by_rule import RULES, Arrival, by_rule
from workbench.studies.residency.told import told
from workbench.workloads.catalogue import available, catalogue, trace_file
from workbench.workloads.importers import Trace, read_trace

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("kineto", "rocprofv3_json")
LONGEST_US = 200.0
"""Longer kernels are left out of the runs by rule, among them collectives that wait for their peers, up to 733 ms."""
REQUESTS = 600
"""Workgroups of a unit's share, the first of the trace."""


class Survey(NamedTuple):
    """What a survey found."""

    told: pd.DataFrame
    """One row a trace: machine, launches, how many are told, for how much of the time."""
    granules: pd.DataFrame
    """One row a trace and granule."""
    rules: pd.DataFrame
    """One row a trace, arrival and rule."""
    left_out: list[str]
    """A sentence a trace that is in no table or not in that of the rules, with the reason."""


def public_traces() -> list[str]:
    """Return the public traces of kernels that are on this machine, in the order of the catalogue."""
    return [name for name, entry in catalogue().items() if entry.format in FORMATS and available(name)]


def survey(
    traces: Sequence[str],
    machine: str = "",
    granules: Sequence[int] = GRANULES,
    rules: Sequence[str] = RULES,
    units: int = 10,
    longest_us: float = LONGEST_US,
) -> Survey:
    """Return the lost residency of traces by granule and by rule, each on its own card's preset.

    Parameters
    ----------
    traces : sequence of str
        Files, or names of public traces.
    machine : str, optional
        A preset for all of them; left out, each has that of the card that it names.
    units : int
        Whose shares of each trace are run for the table of rules; 0 leaves that table empty.
    longest_us : float
        Microseconds: longer kernels are in no run by rule.

    Raises
    ------
    InputError
        A trace cannot be read; no trace is left out without being named.
    """
    import pandas as pd

    tables: tuple[list[Any], list[Any], list[Any], list[str]] = ([], [], [], [])
    for name in traces:
        _one(name, machine, _Request(granules, rules, units, longest_us), *tables)
    told_rows, granule_rows, rule_rows, left_out = tables
    return Survey(pd.DataFrame(told_rows), pd.DataFrame(granule_rows), pd.DataFrame(rule_rows), left_out)


class _Request(NamedTuple):
    granules: Sequence[int]
    rules: Sequence[str]
    units: int
    longest_us: float


def _one(
    name: str,
    machine: str,
    request: _Request,
    heads: list[Any],
    granule_rows: list[Any],
    rule_rows: list[Any],
    left_out: list[str],
) -> None:
    trace = read_trace(trace_file(name))
    known = told(trace)
    chosen = machine or _preset_of(trace)
    alone = known.whole == 0
    heads.append({"trace": name, "machine": chosen or "not named", **known._asdict()})
    try:
        if not chosen:
            raise InputError("its card has no preset; name a machine.")
        counted = {"trace": name, "machine": chosen, "counts": "dynamic part alone" if alone else "whole"}
        hardware: Machine = preset(chosen, Machine).machine()
        granule_rows.extend(
            {**counted, **row._asdict()} for row in by_granule(trace, hardware, request.granules, alone)
        )
        rule_rows.extend({**counted, **row} for row in _rules(name, chosen, request, alone))
    except InputError as problem:
        left_out.append(f"{name}: {str(problem).rsplit(': ', 1)[-1]}")  # without where the file lies


def _preset_of(trace: Trace) -> str:
    return next(filter(None, (preset_for_device(card.name) for card in trace.cards)), "")


def _rules(name: str, machine: str, request: _Request, alone: bool) -> Iterator[dict[str, Any]]:
    if not request.units or not request.rules:
        return
    how = {"shared_bytes": "launch_argument"} if alone else {}
    workload = {"trace": name, "count": REQUESTS, "longest_us": request.longest_us, "incomplete": "skip", **how}
    arrivals: tuple[Arrival, ...] = ("all_at_once", "recorded")
    for arrival in arrivals:
        for one in by_rule(workload, {"preset": machine}, request.rules, arrival, request.units):
            ends = {"lost": one.lost.mean, "lost_low": one.lost.low, "lost_high": one.lost.high}
            yield {
                "arrival": arrival,
                "granule_bytes": one.granule_bytes,
                "rule": one.rule,
                **ends,
                "blocked": one.blocked,
            }
