"""Ids of runs are as they were: who runs a sweep again finds its rows."""

from tests.golden.run_ids import VERSION, ids, kept


def test_the_ids_of_shipped_sweeps_are_as_they_were():
    now = ids()
    assert all(len(one) == 32 for points in now.values() for one in points) and len(now) == 6
    assert now == kept().get(VERSION, now), "see tests/golden/run_ids.py"


def test_ids_are_kept_of_the_oldest_and_the_newest_python():
    assert {"3.11", "3.13"} <= {*kept()}
