"""Advice proposes settings that every PyTorch takes, and prints each so that it reads as the same."""

from __future__ import annotations

import pytest

from workbench.advice.torch_memory.search_space import DEFAULTS, DRAWN_SPLITS, EXPANDABLE, SPLITS, grid, sample_with_tpe
from workbench.engines.torch_allocator.settings import SEGMENT, AllocatorSettings


def proposed() -> list[AllocatorSettings]:
    """Return the grid, and what Optuna proposes in some trials."""
    known = dict.fromkeys(grid(DEFAULTS), (0, 0))
    sample_with_tpe(lambda settings: (settings.max_split_size_mb, len(settings.conf)), known, 60)
    return list(known)


def test_every_proposal_is_a_setting_that_pytorch_takes() -> None:
    """Also those versions that take only a max_split_size_mb above kLargeBuffer, 20 MiB (CUDAAllocatorConfig.cpp)."""
    settings = proposed()
    assert len(settings) > 60 and EXPANDABLE in settings
    assert [one.conf for one in settings if AllocatorSettings.parse(one.conf) != one] == []
    assert [one.conf for one in settings if 0 < one.max_split_size_mb <= SEGMENT] == []


@pytest.mark.parametrize("split", [*SPLITS, *DRAWN_SPLITS])
def test_no_limit_of_splitting_is_as_small_as_a_segment(split: int) -> None:
    assert split == 0 or split > SEGMENT
