"""The pictures of the gallery, each made from a shipped sweep at a few seeds: a part of `make pictures`.

`python -m docs.make_gallery NAME ...` makes some of them; without names all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import workbench as wb
from workbench.docs import ROOT
from workbench.docs.reference.figures import sweeps_with
from workbench.errors import WorkbenchError
from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES
from workbench.validation.lock_fit import Curve

FOLDER = ROOT / "docs" / "pictures" / "gallery"
KEPT = FOLDER / "sweeps.json"


class Source(NamedTuple):
    """What a picture is made from: a sweep, at so many seeds, with some of its values replaced."""

    sweep: str
    seeds: int | None = 5
    set: dict[str, Any] = {}


_DRAIN = Source("placement/drain.yaml", 60)
_WHO_SHARES = Source("translation/who_shares.yaml", 3)
_LENDERS = Source("pool/lenders.yaml")
SOURCES = {
    **dict.fromkeys(
        ("remaining_over_time", "free_over_time", "drain_difference", "layout_over_time", "wear_by_segment"), _DRAIN
    ),
    "fragmentation_by_size": Source("placement/request_size.yaml"),
    "measure_by_lever": Source("dispatch/splitting.yaml"),
    "saving_by_policy": Source("placement/six_open_gpus.yaml", 20),
    "where_it_holds": Source("where/placement.yaml", 12),
    "scenario_discovery": Source("where/placement_box.yaml", None),
    "sensitivities": Source("sensitivity/placement.yaml", 1),
    "interactions": Source("sensitivity/placement.yaml", 1),
    "pareto": Source("dispatch/emptiest.yaml", 8),
    "dispatch_timeline": Source("dispatch/head_of_line.yaml", 3),
    "waits_by_priority": Source("dispatch/head_of_line.yaml", 8),
    "unit_spread_over_rounds": Source("dispatch/unit_spread.yaml", 3),
    "power_over_modules": Source("dispatch/module_choice.yaml", 3),
    "temperature_over_time": Source(
        "dispatch/module_choice.yaml", 2, {"policy.choice": {"vary": ["round_robin", "most_residual", "coolest_first"]}}
    ),
    "served_by": Source("translation/filling.yaml", 3),
    "latency_distribution": Source("translation/rivals.yaml", 2),
    "network_load": _WHO_SHARES,
    "sharing_degrees": _WHO_SHARES,
    "core_affinity": _WHO_SHARES,
    "where_time_goes": Source("node/where_time_goes.yaml", 3),
    "speed_up": Source("malloc/thread_count.yaml"),
    "held_over_time": Source("malloc/random_frees.yaml", 3),
    "memory_by_card": _LENDERS,
    "lending_graph": _LENDERS,
    "reserved_over_requests": Source("pool/real_memory.yaml", 1),
    "region_layout": Source("pool/real_memory.yaml", 1),
    "reading_over_bound": Source("pool/bound.yaml", 4),
    "reserved_over_program": Source("pool/growing_segments.yaml", None),
    "recorded_against_replayed": Source("pool/exactness.yaml", None),
}
"""What each figure of runs is made from; another one from the first shipped sweep that names it."""
STUDY, TRIALS = "tune/placement.yaml", 80
_LOCKS: dict[str, Any] = {
    "engine": "malloc",
    "machine": "h100",
    "workload": {"synthetic": "random_mallocs", "threads": {"vary": [32, 64, 128, 256, 512]}},
    "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}, "lock": "trylock_spin"},
    "options": {"atomics": {"with_waiters": {"cycles": 0, "cycles_a_waiter": 2}}},
    "seeds": 1,
    "measures": ["makespan_cycles"],
}
WAYS = {"per_thread": "per_thread_lock", "warp_aggregated": "warp_lock"}
CYCLES_A_MICROSECOND = 1500.0


def main(names: list[str]) -> int:
    """Make the pictures of some figures, or of all; return 1 if one could not be made."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    failed = False
    for name, sweep, figure in _figures(names):
        if figure is None:
            failed = True
            continue
        figure.savefig(FOLDER / f"{name}.png", dpi=130, bbox_inches="tight", metadata={"Software": None})
        kept |= {name: sweep} if sweep else {}
        print(name, sweep, flush=True)
        KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    return int(failed)


def _figures(names: list[str]) -> Iterator[tuple[str, str, Any]]:
    """Yield every wanted figure with the sweep that made it, None where it could not be made."""
    wanted = names or [*FIGURES.names(), *STUDY_FIGURES.names(), *CALCULATIONS.names()]
    for name in (name for name in dict.fromkeys(wanted) if name in FIGURES.names()):
        source = SOURCES.get(name) or Source(next(iter(sweeps_with(name)), ""), 3)
        if not source.sweep:
            raise SystemExit(
                f"{name}: no shipped sweep names this figure; add a line to SOURCES of docs/make_gallery.py."
            )
        yield name, source.sweep, _of_runs(name, source)
    study = [name for name in STUDY_FIGURES.names() if name in wanted and name not in FIGURES.names()]
    if study:
        tuned = wb.tune(ROOT / "sweeps" / STUDY, trials=TRIALS)
        yield from ((name, STUDY, STUDY_FIGURES.find(name).figure(tuned)) for name in study)
    for name in (name for name in CALCULATIONS.names() if name in wanted):
        choices = {"curves": list(_launches())} if name == "malloc_on_card" else {}
        yield name, "", CALCULATIONS.find(name).figure(**choices)


def _launches() -> Iterator[Curve]:
    """Yield the times of launches in the engine `malloc`, which stands for a card where there is none."""
    taken = wb.run(_LOCKS).summary()
    for serve, way in WAYS.items():
        rows = taken[taken["policy.serve"] == serve]
        threads = rows["workload.threads"].to_numpy(dtype=np.int64)
        contenders = -(-threads // 32) if way == "warp_lock" else threads
        microseconds = rows["mean"].to_numpy(dtype=float) / CYCLES_A_MICROSECOND
        yield Curve("the engine malloc in a card's place", way, threads, contenders, microseconds)


_ran: dict[str, Any] = {}


def _of_runs(name: str, source: Source) -> Any:
    key = json.dumps(source)
    try:
        if key not in _ran:
            _ran[key] = wb.run(ROOT / "sweeps" / source.sweep, seeds=source.seeds, set=source.set or None)
        return _ran[key].figure(name)
    except WorkbenchError as problem:
        print(f"{name}: {problem}", file=sys.stderr, flush=True)
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
