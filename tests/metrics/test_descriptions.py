"""A measure is described by itself: its page, a table's caption and the methods of a paper show it alone."""

from __future__ import annotations

import re

import pytest

from workbench.mechanisms.mechanism import mechanism, mechanisms

LEANS = re.compile(r"^the same\b|\bas above\b")


@pytest.mark.parametrize("engine", mechanisms())
def test_no_description_leans_on_the_measure_before_it(engine):
    leaning = [name for name, one in mechanism(engine).measures.items() if LEANS.search(one.description)]
    assert leaning == []
