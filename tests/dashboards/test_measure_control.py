"""A measure of the user's is offered, compared and forgotten like the engine's own."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench.dashboards._catalogue_watch import CatalogueWatch, users_own
from workbench.dashboards._sidebar import MeasureControl
from workbench.mechanisms.mechanism import mechanism
from workbench.parts import remove


@pytest.fixture
def longest_wait():
    @wb.measure(unit="cycles", better="lower", description="the longest time in the queue")
    def longest_wait(record):
        return float((record.grant - record.arrival).max())

    yield wb.add_measure("shared_memory", longest_wait)
    if "measure of shared_memory/longest_wait" in users_own():
        remove("measure", "longest_wait")


@pytest.fixture
def shown():
    made = wb.dashboard("shared_memory")
    yield made
    made.close()


def offered(control):
    return {name for _, name in control.field.options}


def test_a_measure_of_a_cell_is_offered_beside_those_of_the_engine(shown, longest_wait):
    before = offered(shown.sidebar.measure)
    shown._defined()
    assert offered(shown.sidebar.measure) - before == {"longest_wait"}
    assert shown.sidebar.measure.plain() == "drain_cycles"


def test_it_is_compared_and_stands_in_the_table(shown, longest_wait):
    shown._defined()
    shown.sidebar.measure.field.value = "longest_wait"
    assert shown.histogram.scene["label"] == "longest wait saved against first_fit (cycles)"
    assert "longest wait (cycles)" in shown.table.value


def test_one_that_is_removed_gives_way_to_the_first(shown, longest_wait):
    shown._defined()
    shown.sidebar.measure.field.value = "longest_wait"
    remove("measure", "longest_wait")
    shown._defined()
    assert shown.sidebar.measure.plain() == "drain_cycles"
    assert "longest_wait" not in offered(shown.sidebar.measure)


def test_a_measure_that_is_neither_good_nor_bad_is_not_offered():
    @wb.measure(unit="segments", better="neither", description="the longest request")
    def longest_request(record):
        return float(record.length.max())

    wb.add_measure("shared_memory", longest_request)
    try:
        control = MeasureControl(mechanism("shared_memory"), "drain_cycles")
        assert "longest_request" not in offered(control)
    finally:
        remove("measure", "longest_request")


def test_the_watch_tells_of_a_measure(longest_wait):
    watch = CatalogueWatch(lambda: None)
    assert users_own()["measure of shared_memory/longest_wait"] is longest_wait
    watch.stop()
