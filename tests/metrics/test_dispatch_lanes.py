"""Where waves run: the lowest places that are free, cycle by cycle."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_measures import dispatches
from tests.slow import examples
from tests.toy_dispatch import toy
from workbench.metrics.dispatch_modules import lanes, within

records = st.builds(toy, seed=st.integers(0, 10**6), groups=st.integers(0, 25), units=st.integers(1, 3))


@examples(20, 300)
@given(records, st.booleans())
def test_every_wave_takes_the_lowest_place_that_is_free(record, one_each):
    result = lanes(record, np.arange(len(record.group)), one_each)
    rows = [*zip(*(column.tolist() for column in result), strict=True)]
    busy = {}
    expected = []
    for serial, d in enumerate(dispatches(record)):
        for unit, waves in enumerate(d["sent"]):
            taken = busy.setdefault((d["module"], unit), {})
            for _ in range(min(waves, 1) if one_each else waves):
                place = next(p for p in range(99) if p not in taken or taken[p] <= d["cycles"].start)
                taken[place] = d["cycles"].stop
                expected.append((serial, unit, place))
    assert rows == expected


@given(records, st.integers(0, 60), st.integers(1, 30))
def test_what_runs_within_a_span(record, first, length):
    span = range(first, first + length)
    wanted = [k for k, d in enumerate(dispatches(record)) if any(cycle in span for cycle in d["cycles"])]
    assert within(record, (first, first + length)).tolist() == wanted
    assert within(record, None).tolist() == [*range(len(record.group))]
