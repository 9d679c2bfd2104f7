"""The paper (`make paper`): from runs to a PDF, or, without a TeX, to all but the PDF."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.errors import WorkbenchError

SWEEP = "sweeps/placement/six_open_gpus.yaml"


def make_paper(seeds: int, to: Path) -> int:
    """Make the paper and say what it rests on; return 1 if TeX is there and could not set it."""
    from workbench.paper import gathered, set_pdf, write_paper

    evidence = gathered(SWEEP, seeds, to / "runs")
    if not evidence.real:
        print(
            "the public serving trace is not on this machine: a synthetic workload stands for it, and the text says so"
        )
    if evidence.residency is None:
        print("no public trace of kernels is on this machine: the section on lost residency has no numbers")
    folder = write_paper(evidence, to / "paper")
    result = set_pdf(folder)
    print(result.sentence)
    return int(result.pdf is None and "stopped" in result.sentence)


def main(words: list[str]) -> int:
    """Read what was asked, and make it."""
    parser = argparse.ArgumentParser(prog="make paper", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="paired runs a point (default: 200)")
    parser.add_argument("--to", type=Path, default=Path("results/paper"), help="where (default: results/paper)")
    given = parser.parse_args(words)
    try:
        return make_paper(given.seeds, given.to)
    except WorkbenchError as problem:
        print(f"workbench: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    if not Path("sweeps").is_dir():
        sys.exit("workbench: run this in the project's folder (it holds sweeps/).")
    sys.exit(main(sys.argv[1:]))
