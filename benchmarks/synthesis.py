"""How long the synthesis of one comparison takes: forty circuits of 128 blocks or segments, from nothing.

Two at a time, in processes of their own, into an empty cache and without the figures that come with the package; then
each once more out of that cache. Prints what each took, the whole, its processor time, and the longest look into the
cache. Run as `python -m benchmarks.synthesis [--size 16 --circuits 4]` where the extra `circuits` is installed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from benchmarks.circuits import exact, placements, probes
from workbench.circuits import Circuit, circuit_of
from workbench.circuits.composed_probes import composed, compositions
from workbench.circuits.synthesis import synthesised_here
from workbench.claims.dispatch_probes import DENSITIES
from workbench.errors import WorkbenchError
from workbench.explain.probe_success import octave_lengths
from workbench.policies.probes import GroupedRun, SampledRun

CIRCUITS, SIZE, PROCESSES = 40, 128, 2

Made = tuple[str, Callable[[], Circuit]]


def compared(size: int) -> Iterator[Made]:
    """Yield what is compared, the exact probes first: they take longest; compositions of parts fill it up."""
    budgets = (GroupedRun(groups=size // 2), *(SampledRun(run_lengths=octave_lengths(16, n)) for n in DENSITIES))
    policies = {repr(one): one for one in (*[*exact(size)][::-1], *placements(), *probes(size), *budgets)}
    yield from ((one.short(), partial(circuit_of, one, size)) for one in policies.values())
    yield from ((str(how), partial(composed, how, size)) for how in compositions(size))


def timed(made: Made) -> tuple[str, float]:
    """Return the name of a circuit, and the seconds until it has its figures; what takes ten minutes has none."""
    began = time.monotonic()
    try:
        synthesised_here(made[1]())
    except WorkbenchError as problem:
        return f"{made[0]}: {problem}", time.monotonic() - began
    return made[0], time.monotonic() - began


def round_of(made: Sequence[Made]) -> list[tuple[str, float]]:
    """Return what each circuit took, two at a time."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        return list(pool.map(timed, made))


def main(arguments: Sequence[str] | None = None) -> None:
    """Synthesize all, and ask for all once more."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", type=int, default=SIZE)
    parser.add_argument("--circuits", type=int, default=CIRCUITS)
    options = parser.parse_args(arguments)
    made = list(islice(compared(options.size), options.circuits))
    with tempfile.TemporaryDirectory(prefix="workbench-synthesis-") as cache:
        os.environ["WORKBENCH_CACHE"] = cache
        began = time.monotonic()
        for name, seconds in round_of(made):
            print(f"{seconds:8.1f} s  {name}")
        wall, worked = time.monotonic() - began, sum(getrusage(who).ru_utime for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
        print(f"{len(made)} circuits of {options.size}: {wall / 60:.1f} min, {worked / 60:.1f} min of processor time")
        again = [seconds for one in made if (seconds := _again(one)) is not None]
        print(f"{len(again)} out of the cache: at most {max(again):.3f} s a circuit")


def _again(made: Made) -> float | None:
    """Return the seconds until a circuit that is built has its figures out of the cache; None where it has none."""
    circuit, began = made[1](), time.monotonic()
    try:
        synthesised_here(circuit, 0.001)
    except WorkbenchError:
        return None
    return time.monotonic() - began


if __name__ == "__main__":
    main()
