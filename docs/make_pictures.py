"""The pictures of README.md, made by the code that they show: run from the project's folder with `make pictures`."""

from __future__ import annotations

from pathlib import Path

import workbench as wb
from workbench.figures import calculated

FOLDER = Path("docs/pictures")
PICTURES = {
    "sweeps/placement/drain.yaml": ["drain_difference", "layout_over_time", "remaining_over_time"],
    "sweeps/placement/six_open_gpus.yaml": ["saving_by_policy"],
    "sweeps/node/where_time_goes.yaml": ["where_time_goes"],
}


CALCULATED = ("probe_success",)
"""Those that need no runs."""


def main() -> None:
    for name in CALCULATED:
        calculated(name).figure().savefig(FOLDER / f"{name}.png", dpi=150, metadata={"Software": None})
    for sweep, names in PICTURES.items():
        results = wb.run(sweep)
        for name in names:
            figure = results.figure(name)
            figure.savefig(FOLDER / f"{name}.png", dpi=150, metadata={"Software": None})
            print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
