"""Ratios of sides that take turns, from times that are given: no clock is read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmarks.turns import Side, compared, digits, spent, turns

pytestmark = pytest.mark.usefixtures("looks_at_new_objects")

TIMES = ("ru_utime", "ru_stime")


class Played:
    """Runs whose times are known before, noted in the order in which they happen."""

    def __init__(self) -> None:
        self.order: list[str] = []

    def side(self, name: str, items: int, *seconds: float) -> Side:
        left = iter([1e9, *seconds])

        def run() -> float:
            self.order.append(name)
            return next(left)

        return Side(items, run)


def test_sides_take_turns_and_every_second_round_goes_backward():
    played = Played()
    taken = turns([played.side("a", 2, 4, 6, 8), played.side("b", 1, 1, 2, 3)], rounds=3)
    assert "".join(played.order) == "ab" + "ab" + "ba" + "ab"
    assert taken == [[2, 3, 4], [1, 2, 3]]


def test_a_ratio_is_the_median_of_the_rounds_and_above_one_if_the_workbench_is_faster():
    """Two disturbed rounds of eleven move neither the median nor the quartiles."""
    played = Played()
    ours = played.side("ours", 100, *[1.0] * 9, *[30.0] * 2)
    theirs = played.side("theirs", 10, *[0.2] * 4, *[0.4] * 5, *[400.0] * 2)
    (result,) = compared("loop", "all", "events", ours, {"C++": theirs}, rounds=11)
    assert result == {
        "name": "loop", "variant": "all", "reference": "C++", "items": 100, "unit": "events",
        "ratio": 4.0, "low": 2.0, "high": 4.0, "rounds": 11,
    }  # fmt: skip


def test_every_reference_has_a_row_and_one_that_is_not_installed_has_no_ratio():
    played = Played()
    sides = {"SimPy": None, "C++": played.side("c", 1, 3, 3)}
    absent, there = compared("loop", "all", "events", played.side("ours", 1, 1, 1), sides, rounds=2)
    assert (absent["reference"], absent["ratio"], absent["low"], absent["rounds"]) == (
        "SimPy (not installed)",
        None,
        None,
        0,
    )
    assert (there["reference"], there["ratio"], there["rounds"]) == ("C++", 3.0, 2)
    assert played.order.count("ours") == 3


def test_without_any_reference_nothing_is_run():
    played = Played()
    assert [row["ratio"] for row in compared("x", "y", "runs", played.side("ours", 1), {"Optuna": None})] == [None]
    assert not played.order


def test_children_count_and_three_digits_are_kept(monkeypatch):
    own, children = iter([10.0, 12.5]), iter([(1.0, 2.0), (1.25, 2.5)])
    monkeypatch.setattr("benchmarks.turns.process_time", lambda: next(own))
    monkeypatch.setattr(
        "resource.getrusage", lambda who: SimpleNamespace(**dict(zip(TIMES, next(children), strict=True)))
    )
    assert spent(lambda: None) == 2.5 + 0.25 + 0.5
    assert digits(0.0123456) == 0.0123
    assert digits(12_345) == 12_300
