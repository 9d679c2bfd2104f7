"""Print the tables of docs/statistics.md: `python -m benchmarks.statistics [REPETITIONS]`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable

from benchmarks.statistics import adaptive, copies, planted, tuning

REPETITIONS = 1000


def table(head: str, rows: Iterable[Iterable[object]]) -> None:
    """Print a table as Markdown."""
    print(f"| {head} |\n|{' --- |' * (head.count('|') + 1)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)
    print()


def main(repetitions: int) -> None:
    """Run everything."""
    print("## Verdicts in planted worlds\n")
    print(f"10 cases, 40 seeds, {repetitions} studies each.\n")
    rows = []
    for law, world in itertools.product(planted.LAWS, planted.WORLDS):
        result = planted.studies(world, 10, 40, repetitions, law=law)
        words = ", ".join(f"{word} {100 * times / repetitions:.1f} %" for word, times in result.words.most_common())
        rows.append((law, world, words, result.false_yes, result.false_no))
    table("law | world | verdicts | false yes | false no", rows)
    print("## Adaptive seeds: looks at 20, 40, ... 200 seeds\n")
    table(
        "world | half width, in sd | narrow looks in a row | interval holds the mean | seeds",
        (
            (world, f"{width:g}", in_a_row, one.held, f"{one.seeds:.0f}")
            for world, width, in_a_row in itertools.product(("normal", "exponential", "lognormal"), (0.2, 0.3), (2, 1))
            for one in [adaptive.stopped(world, width, 10 * repetitions, in_a_row)]
        ),
    )


def tables_of_studies(repetitions: int) -> None:
    """Tuning and copies."""
    print("## Points of a front that beat the baseline, where none does\n")
    table(
        "points | objectives | studies with a false one",
        ((p, o, tuning.false_winners(p, o, repetitions)) for p, o in ((1, 1), (5, 1), (5, 2), (20, 1))),
    )
    print("## Levers with more than the noise floor, where none matters\n")
    table(
        "trials | of levers | of studies with five levers",
        ((trials, *tuning.false_levers(trials, max(repetitions // 5, 1))) for trials in (20, 50, 200)),
    )
    print(f"## Different workloads of {copies.SEEDS} seeds\n")
    table(
        "engine | generator | different | a sweep of them is refused",
        ((*one[:3], "yes" if one.refused else "no") for one in copies.table()),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
    tables_of_studies(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
