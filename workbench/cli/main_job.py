"""The main job (`make run`): the source document's figures on its own workload, on five regimes and on a real trace."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.cli.main import main
from workbench.cli.run import default_folder

SWEEPS = ("sweeps/placement/drain.yaml", "sweeps/placement/six_open_gpus.yaml")
REAL = "sweeps/placement/mi355x_serving.yaml"
TRACE = "rocprofv3_mi355x_part1"


def run_all() -> int:
    """Run the sweeps one after the other; the real trace joins where its file can be reached."""
    from workbench.workloads.catalogue import available

    sweeps = [*SWEEPS, *([REAL] if available(TRACE) else [])]
    status = 0
    for sweep in sweeps:
        print(f"\n== {sweep}")
        status = max(status, main(["run", sweep]))
    if REAL not in sweeps:
        print(f"\nThe real trace {TRACE} is not here. With a network: workbench import --fetch {TRACE}; then {REAL}.")
    print("\nResults (tables, figures as PDF, PNG and CSV, provenance):")
    for sweep in sweeps:
        print(f"  {default_folder(sweep)}")
    print("Change a sweep file and run it again, or open notebooks/01_placement.ipynb with: make lab")
    return status


if __name__ == "__main__":
    if not Path("sweeps").is_dir():
        sys.exit("workbench: run this in the project's folder (it holds sweeps/).")
    sys.exit(run_all())
