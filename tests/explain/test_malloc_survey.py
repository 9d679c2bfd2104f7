"""The survey's table, copied right, beside the models."""

from __future__ import annotations

import pytest

from workbench.explain import malloc_validation
from workbench.explain.malloc_validation import DESIGNS, PUBLISHED_MS, survey_table


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(malloc_validation, "THREADS", 600)
        patched.setattr(malloc_validation, "HEAP_BYTES", 1 << 24)
        yield survey_table(seeds=1)


def test_published_figures_and_their_ratios(table):
    row = table.query("largest_bytes == 1024 and design == 'XMalloc'").iloc[0]
    assert (row["published_ms"], row["published_ratio"]) == (3.80, pytest.approx(3.80 / 17.96))
    assert len(table) == len(PUBLISHED_MS) * len(DESIGNS)


def test_every_model_is_faster_than_one_lock_as_all_but_one_of_the_published_figures_are(table):
    others = table.query("design != 'CUDA'")
    assert (others["modelled_ratio"] < 1).all()
    against = others[~others["same_direction"]]
    assert against[["largest_bytes", "design"]].to_numpy().tolist() == [[8192, "ScatterAlloc"]]
