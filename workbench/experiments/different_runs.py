"""How many different runs do the seeds of a point make? Measured by digests of what is drawn, not declared.

Runs that are copies of each other are no sample: intervals over them would say what nobody measured. A generator all of
whose laws are constant gives the same requests under every seed, as a file does.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.engines.engine import Setup
from workbench.streams import Streams

PROBES = 3
"""Seeds whose requests are compared first; all differ where laws draw at all, and then no more are looked at."""


def different_workloads(setup: Setup, wanted: str, seeds: Sequence[int]) -> int:
    """Return how many different workloads some seeds make; as many as there are seeds where those of the first differ.

    Parameters
    ----------
    setup : Setup
        Whose workload and machine are looked at.
    wanted : str
        The method of the workload that the engine asks.

    Examples
    --------
    >>> from workbench.api import planned
    >>> def count(size):
    ...     workload = {"synthetic": "random_workgroups", "count": 5, "size": size, "duration": 9}
    ...     plan = planned({"engine": "shared_memory", "workload": workload})
    ...     return different_workloads(plan.points[0].setup, "workgroups", range(10))
    >>> count(4), count({"uniform": [1, 64]})
    (1, 10)
    """
    declared = setup.workload.different_seeds(setup.machine)
    if declared is not None or len(seeds) < 2:
        return len(seeds) if declared is None else min(declared, len(seeds))
    probes = {workload_digest(setup, wanted, seed, first=True) for seed in seeds[:PROBES]}
    if len(probes) == len(seeds[:PROBES]):
        return len(seeds)
    return len({workload_digest(setup, wanted, seed) for seed in seeds})


def draws(setup: Setup) -> bool:
    """Return whether a policy or an option of a point draws by itself: then every seed is another run."""
    return any(_draws(policy) for policy in setup.policies.values()) or _option_draws(setup)


def _draws(policy: Any) -> bool:
    """Return whether a policy draws, or is a lock that serves one of several waiters at random."""
    among = getattr(policy, "among", None)
    return bool(policy.draws) or (callable(among) and among() > 1)


def _option_draws(setup: Setup) -> bool:
    """Return whether a heap is occupied at random at the start, or ties are broken at random."""
    options = setup.options
    return getattr(options, "occupancy", 0) > 0 or getattr(options, "module_tie", "") == "random"


def workload_digest(setup: Setup, wanted: str, seed: int, first: bool = False) -> bytes:
    """Return the digest of what a workload asks under a seed; with `first`, of its first block alone."""
    digest = hashlib.blake2b(digest_size=16)
    requested = getattr(setup.workload, wanted)(setup.machine, Streams(seed))
    for part in _parts(requested, first):
        digest.update(part)
    return digest.digest()


def _parts(value: Any, first: bool) -> Iterator[bytes]:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield f"{value.dtype.str}{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        yield from _parts([*value.items()], first)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _parts([getattr(value, field.name) for field in dataclasses.fields(value)], first)
    elif isinstance(value, (list, tuple, np.ndarray)):
        yield f"({len(value)})".encode()
        for one in value:
            yield from _parts(one, first)
    elif isinstance(value, Iterator):
        for block in value:
            yield from _parts(block, first)
            if first:
                return
    else:
        yield repr(value).encode()
