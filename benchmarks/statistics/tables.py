"""The tables of docs/statistics.md, made from `data/statistics.csv`."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from scipy import special

Row = dict[str, str]
SEEDS, POWER_SEEDS = ("10", "20", "40", "100", "200"), ("10", "20", "50", "100")
COVERED_SEEDS = ("10", "20", "40", "50", "100", "200")
FAMILIES = ("1", "10", "30", "100")
EFFECTS = ("+0.5 sd", "")
"""Of the tables of power; the file has 1 sd too. The fourteenth world has its own effect."""
BAR = 0.05
RIVALS = ("direction", "size", "t", "wilcoxon", "sign")
JOINED = ("every for", "every against", "some for", "some against")


def all_of(file: Path) -> list[str]:
    """Return all tables as Markdown."""
    with file.open() as text:
        rows = list(csv.DictReader(text))
    return [
        bar(rows),
        errors(rows, "median", "direction"),
        errors(rows, "mean", "size"),
        few_seeds(rows),
        rivals(rows),
        looks(rows),
        joiners(rows),
        power_bar(rows),
        power(rows),
        power_at_looks(rows),
        coverage(rows),
        independence(rows),
    ]


def bar(rows: Iterable[Row]) -> str:
    """Return how many judged rates there are of each table, how many are above 5 %, and which."""
    kept = [row for row in rows if row["judged"]]

    def line(table: str) -> Sequence[str]:
        cells = [row for row in kept if row["table"] == table]
        rates = [(float(row[kind]), int(row["studies"])) for row in cells for kind in row["judged"].split("; ")]
        alone = sum(special.bdtrc(round(rate * studies) - 1, studies, BAR) < BAR for rate, studies in rates if rate)
        above = [_where(row, kind) for row in cells for kind in row["above 5 %"].split("; ") if kind]
        return (table, str(len(rates)), str(alone), str(len(above)), "; ".join(above) or "none")

    head = ("table", "judged rates", "above 5 %, each tested alone", "after Holm over all", "which")
    return _markdown(head, map(line, dict.fromkeys(row["table"] for row in kept)))


def _where(row: Row, kind: str) -> str:
    return f"{kind}, {row['world']}, n = {row['seeds']}, m = {row['family']}: {_percent(row[kind])} %"


def errors(rows: Iterable[Row], centre: str, kind: str) -> str:
    """Return the error of one kind of word. Worlds whose mean and median are both 0 stand in both tables."""
    kept = [row for row in rows if row["table"] == "error" and row["centre"] == centre]
    if centre == "mean":
        skewed = {row["world"] for row in kept}
        kept += [row for row in rows if row["table"] == "error" and row["world"] not in {*skewed, "20 % infinite"}]
    cells = {(row["world"], row["seeds"], row["family"]): _percent(row[kind]) for row in kept}
    return _markdown(
        ("world", *(f"n = {n}" for n in SEEDS)),
        ((world, *(" / ".join(cells[world, n, m] for m in FAMILIES) for n in SEEDS)) for world in _worlds(kept)),
    )


def few_seeds(rows: Iterable[Row]) -> str:
    """Return the error of size words at each number of seeds between 10 and 20."""
    kept = [row for row in rows if row["table"] == "few seeds"]
    seeds = list(dict.fromkeys(row["seeds"] for row in kept))
    cells = {(row["world"], row["seeds"], row["family"]): _percent(row["size"]) for row in kept}
    return _markdown(
        ("world", *(f"n = {n}" for n in seeds)),
        ((world, *(" / ".join(cells[world, n, m] for m in FAMILIES) for n in seeds)) for world in _worlds(kept)),
    )


def rivals(rows: Iterable[Row]) -> str:
    """Return the shares of studies in which each test speaks, with 10 comparisons of 20 and of 100 seeds."""
    kept = [row for row in rows if row["table"] == "error" and row["family"] == "10"]
    cells = {(row["world"], row["centre"], row["seeds"]): row for row in kept}
    return _markdown(
        ("world", "0 is the", "seeds", "direction words", "size words", "t", "Wilcoxon", "sign test, ties counted"),
        (
            (*where, n, *(_percent(cells[*where, n][test]) for test in RIVALS))
            for where in dict.fromkeys((row["world"], row["centre"]) for row in kept)
            for n in ("20", "100")
        ),
    )


def looks(rows: Iterable[Row]) -> str:
    """Return the shares of studies with a false word at any of ten looks."""
    kept = [row for row in rows if row["table"] == "looks" and row["centre"] == "median"]
    cells = {(row["world"], row["family"]): row for row in kept}

    def shares(world: str, test: str) -> str:
        return " / ".join(_percent(cells[world, family][test]) for family in FAMILIES)

    return _markdown(
        ("world", "direction words", "size words", "t at each look", "sign test at each look"),
        ((world, *(shares(world, test) for test in ("direction", "size", "t", "sign"))) for world in _worlds(kept)),
    )


def joiners(rows: Iterable[Row]) -> str:
    """Return the verdicts on claims of several parts under normal noise, and the largest false rate of all worlds."""
    kept = [row for row in rows if row["table"] == "joiners"]
    at = [row for row in kept if row["seeds"] == "40"]
    cells = {(row["case"], row["family"]): row for row in at if row["world"] == "normal"}

    def shares(case: str, kind: str) -> str:
        false = kind in cells[case, "3"]["judged"].split("; ")
        largest = max(float(row[kind]) for row in kept if row["case"] == case)
        here = " / ".join(_percent(cells[case, parts][kind]) for parts in ("3", "10"))
        return f"{here}; false, at most {_percent(largest)}" if false else here

    cases = list(dict.fromkeys(case for case, _ in cells))
    return _markdown(("effects", *JOINED), ((case, *(shares(case, kind) for kind in JOINED)) for case in cases))


def power_bar(rows: Iterable[Row]) -> str:
    """Return what any word loses to the better one of t and the sign test at half a standard deviation."""
    kept = [row for row in rows if row["table"] == "power" and row["world"] == "normal" and row["case"] == EFFECTS[0]]
    cells = {(row["family"], row["seeds"]): row for row in kept}
    compared = [cells[family, seeds] for family in FAMILIES[:2] for seeds in ("20", "50", "100")]
    return _markdown(
        ("m", "n", "any word", "t", "sign test, ties counted", "points lost"),
        (
            (row["family"], row["seeds"], *(_percent(row[kind]) for kind in ("any", "t", "sign")), _points(row))
            for row in compared
        ),
    )


def _points(row: Row) -> str:
    return f"{100 * (max(float(row['t']), float(row['sign'])) - float(row['any'])):.1f}"


def power(rows: Iterable[Row]) -> str:
    """Return the power of any word, of a sure word and of the other tests."""
    kept = [row for row in rows if row["table"] == "power" and row["family"] in ("1", "10") and row["case"] in EFFECTS]
    cells = {(row["world"], row["family"], row["seeds"]): row for row in kept}
    kinds = ("any", "sure", "t", "wilcoxon", "sign")
    return _markdown(
        ("world", "m", *(f"n = {n}" for n in POWER_SEEDS)),
        (
            (*where, *(" / ".join(_whole(cells[*where, n][kind]) for kind in kinds) for n in POWER_SEEDS))
            for where in dict.fromkeys((row["world"], row["family"]) for row in kept)
        ),
    )


def power_at_looks(rows: Iterable[Row]) -> str:
    """Return the power of any word before, at and after the planned 40 seeds."""
    kept = [row for row in rows if row["table"] == "power at looks" and row["case"] in EFFECTS]
    cells = {(row["world"], row["seeds"], row["family"]): row for row in kept}
    seeds = ("10", "20", "30", "40", "60", "80", "100")
    return _markdown(
        ("world", *(f"at {n} seeds" for n in seeds)),
        (
            (world, *(" / ".join(_whole(cells[world, n, m]["any"]) for m in FAMILIES[:2]) for n in seeds))
            for world in _worlds(kept)
        ),
    )


def coverage(rows: Iterable[Row]) -> str:
    """Return how often the 95 % interval holds the true geometric mean."""
    kept = [row for row in rows if row["table"] == "coverage"]
    cells = {(row["world"], row["seeds"]): _percent(row["held"]) for row in kept}
    return _markdown(
        ("ratios", *(f"n = {n}" for n in COVERED_SEEDS)),
        ((world, *(cells[world, n] for n in COVERED_SEEDS)) for world in _worlds(kept)),
    )


def independence(rows: Iterable[Row]) -> str:
    """Return one row: the least p-values of the kinds of tests of all streams."""
    kept = [row for row in rows if row["table"] == "independence"]

    def least(*words: str) -> str:
        p = [float(row["p"]) for row in kept if any(word in row["case"] for word in words)]
        return f"{min(p):.2g} of {len(p)}"

    adjusted = min(float(row["p after Holm"]) for row in kept)
    pairs = max(float(row["statistic"]) for row in kept if "all pairs" in row["case"])
    return _markdown(
        (
            "seeds",
            "chi-square, spread",
            "correlations",
            "runs",
            "largest of all pairs",
            f"least after Holm over {len(kept)}",
        ),
        [
            (
                "0 to 999 and 1,000,000 to 1,000,999",
                least("chi-square", "spread"),
                least("correlation of"),
                least("runs"),
                f"{pairs:.2f}, p {least('all pairs')}",
                f"{adjusted:.2g}",
            )
        ],
    )


def _worlds(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row["world"] for row in rows))


def _percent(rate: str | float) -> str:
    return f"{100 * float(rate):.1f}"


def _whole(rate: str) -> str:
    return f"{100 * float(rate):.0f}"


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
