"""Who waits and what runs over time, against a count at every cycle."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_measures import dispatches, makespan
from tests.slow import examples
from tests.toy_dispatch import toy
from workbench.metrics.dispatch_rows import running_over_time, waiting_over_time

records = st.builds(toy, seed=st.integers(0, 10**6), groups=st.integers(0, 25), units=st.integers(1, 3))


@examples(20, 300)
@given(records)
def test_equal_to_a_count_at_every_cycle(record):
    parts = dispatches(record)
    last = {group: max(d["cycles"].start for d in parts if d["group"] == group) for group in range(len(record.arrival))}
    waiting, running = waiting_over_time(record), running_over_time(record)
    assert (waiting.before, running.before) == (0, 0)
    for cycle in range(makespan(record) + 2):
        here = np.array([cycle])
        assert waiting.at(here)[0] == sum(record.arrival[group] <= cycle < last[group] for group in last)
        assert running.at(here)[0] == sum(sum(d["sent"]) for d in parts if cycle in d["cycles"])
