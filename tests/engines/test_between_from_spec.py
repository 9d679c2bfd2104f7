"""The engine against the slow twin that was written from the text of specification 7 alone, in saturated runs."""

from __future__ import annotations

from itertools import islice

import pytest

from tests.engines.between_twin import differences
from tests.oracles.between_cases import cases
from tests.oracles.between_queue_and_unit import play

FEW, ALL = 60, 500


def test_the_first_cases_equal_the_twin():
    for case in cases(FEW, seed=1):
        assert not differences(case, play(case)), case


@pytest.mark.slow
def test_all_cases_equal_the_twin():
    for case in islice(cases(ALL, seed=1), FEW, None):
        assert not differences(case, play(case)), case
