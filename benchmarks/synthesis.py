"""How long it takes to synthesise the forty circuits of one comparison at 128 blocks or segments, from nothing.

Two at a time, each in a process of its own, into an empty cache and without the figures that come with the package;
then once more from that cache. Prints seconds and the processor time of all. Run as `python -m benchmarks.synthesis`,
`--size 16` for a short one, where the extra `circuits` is installed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from benchmarks.circuits import exact, placements, probes
from workbench.circuits import Circuit, circuit_of
from workbench.circuits.probes.composed import composed, compositions
from workbench.circuits.synthesis import Counts, synthesised, synthesised as again
from workbench.circuits.synthesis import shipped as table
from workbench.policies.probes import GroupedRun, SampledRun
from workbench.studies.claims.dispatch.probe_accuracy import DENSITIES
from workbench.studies.probe_success import octave_lengths

CIRCUITS = 40


def named(size: int) -> dict[str, Any]:
    """Return how each circuit of the comparison is made: policies, then compositions until there are forty."""
    budgets = (GroupedRun(groups=size // 2), *(SampledRun(run_lengths=octave_lengths(16, n)) for n in DENSITIES))
    policies = {repr(one): one for one in (*probes(size), *budgets, *exact(size), *placements())}
    others = {str(how): how for how in compositions(size)}
    return dict([*policies.items(), *others.items()][:CIRCUITS])
