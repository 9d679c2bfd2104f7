"""Run a setup in plain Python, in a process of its own, and keep what its policies were asked.

Engines call policies through addresses of compiled code and keep no view. With `NUMBA_DISABLE_JIT=1` the same engine
is plain Python, gives the same results to the bit, and each answer passes through a function that can be watched. So
every question of every engine can be stepped through, with a user's own policy too, and no engine knows of it.
"""

from __future__ import annotations

import base64
import pickle

from workbench.engines.engine import Setup
from workbench.errors import PolicyError
from workbench.experiments.pickled_setup import Packer
from workbench.policies.fresh_process import in_a_fresh_interpreted_process
from workbench.studies.decisions.decision import Decision

MOST = 2_000
"""Decisions of a run are kept, from its beginning; then it is left."""
_PROGRAM = "from workbench.studies.decisions.watch import watch_given; watch_given()"


def decisions_of(setup: Setup, seed: int, most: int = MOST) -> list[Decision]:
    """Return the first decisions of a run, in the order in which they were made.

    Probes are left out: they answer what is so, not what shall be, and are asked of every unit in every round.

    Parameters
    ----------
    setup : Setup
        A point's setup, as `plan.points[k].setup`.
    seed : int
    most : int
        How many are kept.

    Raises
    ------
    PolicyError
        A policy raised before, or its answer is not allowed.
    InputError
        A policy of the user's refers to something that cannot be sent to another process.

    Examples
    --------
    >>> from workbench.experiments.plan import make_plan
    >>> from workbench.experiments.sweep import read_sweep
    >>> plan = make_plan(read_sweep({"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 9}}))
    >>> first = decisions_of(plan.points[0].setup, seed=0)[0]
    >>> first.policy, first.saw["segments"], first.answer
    ('nearest_boundary', 128, 0)
    """
    pickled = Packer().pack("", setup)
    reply = in_a_fresh_interpreted_process(_PROGRAM, pickle.dumps((pickled, seed, most)))
    if reply.problem:
        raise PolicyError(reply.problem.strip().splitlines()[-1].partition(": ")[2] or "the run ended unexpectedly.")
    decisions: list[Decision] = pickle.loads(base64.b64decode(reply.said))
    return decisions
