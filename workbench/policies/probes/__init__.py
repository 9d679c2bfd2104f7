"""How long is the longest run of free blocks? (spec 3, Em. 4-7)

`reports` is what a probe reports of many states: one call into compiled code.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import RAISED, kernel
from workbench.errors import PolicyError
from workbench.policies.policy import exported
from workbench.policies.probes.question import PROBE, Probe, ProbeCost, ProbeView

globals().update(exported(__name__))
_ask = PROBE.ask


@kernel
def _ask_each(answer, states, blocks, params, results):  # type: ignore[no-untyped-def]
    for k in range(states.shape[0]):
        results[k] = _ask(answer, ProbeView(states[k], blocks, params))


def reports(probe: Probe, states: np.ndarray, blocks: int) -> np.ndarray:
    """Return the report of each state: int64[states].

    Parameters
    ----------
    probe : Probe
        Whose compiled answer is asked.
    states : uint64 array, shape (states, words)
        Free maps of one resource.
    blocks : int
        Blocks of the resource.

    Raises
    ------
    PolicyError
        The probe's answer raised.

    Examples
    --------
    >>> from workbench.policies.probes import ExactRun
    >>> reports(ExactRun(), np.array([[0b0110], [0b1110]], np.uint64), 4).tolist()
    [2, 3]
    """
    ready, result = probe.ready(), np.empty(len(states), np.int64)
    _ask_each(ready.answer, states, blocks, ready.params, result)
    if (result == RAISED).any():
        raise PolicyError(f"{probe.short()} raised in state {int(np.argmax(result == RAISED))} of {len(states)}.")
    return result
