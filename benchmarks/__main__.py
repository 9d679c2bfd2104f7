"""Run the benchmarks, and keep the ratios that docs/pages/speed.md shows.

$ python -m benchmarks                      # all, into data/speed.csv
$ python -m benchmarks place_free importers # these, the other rows stay as they are
"""

from __future__ import annotations

import argparse

from benchmarks import BENCHMARKS, run
from benchmarks.kept_ratios import keep, kept


def main() -> None:
    """Measure, and write the data after each benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    names = parser.parse_args().names or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    for name in names:
        keep([*(row for row in kept() if row["name"] != name), *run([name])])


if __name__ == "__main__":
    main()
