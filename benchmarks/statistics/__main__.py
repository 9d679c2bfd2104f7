"""Print the tables of docs/statistics.md: `python -m benchmarks.statistics [REPETITIONS]`."""

from __future__ import annotations

import itertools
import sys
import typing
from collections.abc import Iterable

from benchmarks.statistics import adaptive, copies, coverage, planted, tuning
from workbench.studies.statistics.estimand import Method

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
    print(f"10 cases, 40 seeds (200 where the differences are skewed), {repetitions} studies each.\n")
    rows = []
    for law, world in itertools.product(planted.LAWS, planted.WORLDS):
        result = planted.studies(world, 10, 40 if law != "skewed" else 200, repetitions, law=law)
        words = ", ".join(f"{word} {100 * times / repetitions:.1f} %" for word, times in result.words.most_common())
        rows.append((law, world, words, result.false_yes, result.false_no))
    table("law | world | verdicts | false yes | false no", rows)
    print("## Coverage of the 95 % interval of a mean\n")
    laws, methods, sizes = coverage.LAWS, ("t", "bca"), (5, 20, 50, 200)
    table(
        "law | method | " + " | ".join(f"n = {n}" for n in sizes),
        (
            (law, m, *(coverage.held(law, m, n, repetitions if m == "t" else min(repetitions, 300)) for n in sizes))
            for law in laws
            for m in methods
        ),
    )
    print("## Differences that are zero on 95 % of all seeds\n")
    table(
        "n | interval holds the mean | false `inside`",
        (
            (n, coverage.held_where_few_differ(n, repetitions), coverage.false_inside_where_few_differ(n, repetitions))
            for n in (5, 20, 60, 200)
        ),
    )
    print("## Rejections at 5 % where the mean difference is 0\n")
    table(
        "law | test | n = 20 | n = 50 | n = 200",
        (
            (law, test, *(coverage.rejected(law, test, n, repetitions) for n in (20, 50, 200)))
            for law in laws
            for test in ("primary", "wilcoxon", "sign")
        ),
    )
    print("## Rejections at 5 % under lognormal noise, by the lever `interval`\n")
    table(
        "interval | n = 20 | n = 50 | n = 200",
        (
            (method, *(coverage.rejected_by(method, n, repetitions) for n in (20, 50, 200)))
            for method in typing.get_args(Method)
            if method != "ranks"
        ),
    )
    print("## Interval, sign, p-value and verdict that disagree\n")
    table("n | share", ((n, coverage.disagreements(n, repetitions)) for n in (5, 6, 12, 13, 14, 30)))
    print("## Adaptive seeds: looks at 20, 40, ... 200 seeds\n")
    rules = ("two narrow in a row", "one narrow", "corrected for location")
    table(
        "law | half width | rule | interval holds the mean | seeds | over what is needed",
        (
            (law, f"{w:g} sd", rule, one.held, f"{one.seeds:.0f}", f"{one.seeds / one.needed:.2f}")
            for law, w, rule in itertools.product(laws, (0.2, 0.3), rules)
            for one in [adaptive.stopped(law, w, 4 * repetitions, rule)]
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
