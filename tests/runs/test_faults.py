"""The short form of the fault campaign (`python -m benchmarks.faults`), and that its books can be bad."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.faults import faults
from benchmarks.faults.campaign import all_faults
from benchmarks.faults.deeds import DEEDS
from benchmarks.faults.site import Site


@pytest.mark.parametrize(
    ("fault", "given"),
    [
        (faults.drivers_killed, {"times": 1}),
        pytest.param(
            faults.workers_killed, {"times": 1, "run": faults.PROCESSES, "name": "processes"}, marks=pytest.mark.slow
        ),
        pytest.param(
            faults.misbehaves, {"deed": "loops", "run": faults.GIVEN, "name": "handed in"}, marks=pytest.mark.slow
        ),
        pytest.param(faults.full_disk, {}, marks=pytest.mark.slow),
        pytest.param(faults.damaged_tail, {}, marks=pytest.mark.slow),
        pytest.param(faults.two_drivers, {}, marks=pytest.mark.slow),
    ],
    ids=lambda given: getattr(given, "__name__", str(given)),
)
@pytest.mark.slow
def test_nothing_is_lost_repeated_or_wrongly_blamed(tmp_path, fault, given):
    books = fault(tmp_path / "site", **given)
    assert books.happened >= 1
    assert books.fine, books


def test_the_campaign_has_every_fault():
    deeds = [fault.keywords["deed"] for fault in all_faults(30) if "deed" in getattr(fault, "keywords", {})]
    assert set(deeds) == set(DEEDS)
    assert len(all_faults(30)) == 11 + len(deeds)


@pytest.mark.slow
def test_bad_books_are_seen(tmp_path):
    site = Site(tmp_path / "site", {"plan": {"seeds": 30}, "run": {"workers": 1}})
    site.start().communicate(timeout=100)
    site.book()
    shutil.rmtree(site.folder / "rows")
    books = site.finish("the store was deleted", {1: "a failure that was not"})
    assert (books.lost, books.repeated, books.wrong_blame, books.identical) == (30, 30, 1, True)
    assert not books.fine
