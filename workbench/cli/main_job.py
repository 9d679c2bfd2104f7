"""The main job (`make run`): placement on the source document's workload and on a real trace, and dispatch."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.cli.main import main
from workbench.cli.run import default_folder
from workbench.errors import InputError

SWEEPS = (
    "sweeps/placement/drain.yaml",
    "sweeps/placement/six_open_gpus.yaml",
    "sweeps/dispatch/head_of_line.yaml",
)
REAL = "sweeps/placement/mi355x_serving.yaml"
TRACE = "rocprofv3_mi355x_part1"


def run_all() -> int:
    """Run the sweeps one after the other; the real trace joins where its file can be reached."""
    sweeps, missing = list(SWEEPS), _missing()
    if missing is None:
        sweeps.append(REAL)
    status = 0
    for sweep in sweeps:
        print(f"\n== {sweep}")
        status = max(status, main(["run", sweep]))
    if missing is not None:
        print(f"\n{REAL} was left out: {missing}")
    print("\nResults (tables, figures as PDF, PNG and CSV, provenance):")
    for sweep in sweeps:
        print(f"  {default_folder(sweep)}")
    print("Change a sweep file and run it again, or open notebooks/01_placement.ipynb with: make lab")
    return status


def _missing() -> str | None:
    """Return why the real trace cannot be run here, None where it can."""
    from workbench.workloads.catalogue import locate

    try:
        locate(TRACE)
    except InputError as reason:
        return str(reason)
    return None


if __name__ == "__main__":
    if not Path("sweeps").is_dir():
        sys.exit("workbench: run this in the project's folder (it holds sweeps/).")
    sys.exit(run_all())
