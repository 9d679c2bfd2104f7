"""`python -m workbench.docs`: build the site into docs/_build/html; `--help` says more."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Pages ask policies and draw small runs: as plain Python that is quicker than any compilation.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

from workbench.docs import BUILD
from workbench.docs._build import build
from workbench.errors import WorkbenchError


def main() -> int:
    """Build the site as the arguments say; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m workbench.docs", description="Build the documentation's site.")
    parser.add_argument("--out", type=Path, default=BUILD, metavar="DIR", help=f"where to (default: {BUILD})")
    parser.add_argument(
        "--no-notebooks", action="store_true", help="do not run notebooks and commands whose outputs are not kept"
    )
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default: 2)")
    args = parser.parse_args()
    try:
        print(build(args.out, not args.no_notebooks, args.workers))
    except WorkbenchError as problem:
        print(f"workbench: {problem}", file=sys.stderr)
        return problem.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
