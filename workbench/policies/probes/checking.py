"""One call that tries a new probe before its first run."""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED, ran_out
from workbench.errors import PolicyError
from workbench.policies.placement.free_map_text import as_text
from workbench.policies.probes.asking import Asker, admitted, compiled, longest, plain, states
from workbench.policies.probes.question import Probe

SIZES, STATES = (16, 64, 65, 128), 25


def check(probe: Probe) -> None:
    """Ask a probe about a hundred states, with every array index tested, and refuse a wrong report.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, reports more than there is (unless `never_more` says that it
        may) or less (unless `exact` says so), or differs between compiled and plain Python. The sentence names the
        state and the report.

    Examples
    --------
    >>> from workbench.policies.probes import GroupedRun
    >>> check(GroupedRun(groups=8))
    """
    fast, slow = compiled(probe, checked=True), plain(probe)
    for blocks in admitted(probe, SIZES):
        for free in states(blocks, STATES):
            _refuse(probe, free, blocks, fast(free, blocks), slow)


def _refuse(probe: Probe, free: np.ndarray, blocks: int, report: int, slow: Asker) -> None:
    state, run = as_text(free, blocks), longest(free, blocks)
    if report == RAISED:
        raise PolicyError(f"{probe.short()} {_cause(probe, free, blocks)} when asked about the state {state}.")
    if not 0 <= report <= blocks or (report > run and probe.never_more()):
        raise PolicyError(f"{probe.short()} reported {report} of the state {state}, whose longest run is {run}.")
    if report < run and probe.exact(blocks):
        raise PolicyError(
            f"{probe.short()} reported {report} of the state {state}, whose longest run is {run}; one that may do so "
            "overrides exact."
        )
    again = slow(free, blocks)
    if again != report:
        raise PolicyError(f"{probe.short()} reported {report} compiled and {again} in plain Python, of {state}.")


def _cause(probe: Probe, free: np.ndarray, blocks: int) -> str:
    """The exception by name: compiled code only tells that there was one, so ask again in plain Python."""
    if ran_out():
        return "did not come to an end"
    try:
        probe.ask(free, blocks)
    except Exception as problem:
        return f"raised {type(problem).__name__} ({problem})"
    return "raised an exception"
