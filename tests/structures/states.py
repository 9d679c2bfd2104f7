"""Free maps for tests: scattered bits, and runs of every length so that whole words are free or taken."""

from __future__ import annotations

from hypothesis import strategies as st

EDGES = [1, 2, 31, 63, 64, 65, 127, 128, 129, 192, 300]

_runs = st.lists(st.tuples(st.booleans(), st.integers(1, 6) | st.sampled_from(EDGES)), min_size=1, max_size=20)
_from_runs = _runs.map(lambda runs: [free for free, length in runs for _ in range(length)][:4096])

free_lists = (st.lists(st.booleans(), min_size=2, max_size=200) | _from_runs).filter(lambda free: len(free) > 1)
lengths = st.integers(1, 12) | st.sampled_from(EDGES) | st.integers(1, 4096)
