"""Steps of size: bounds that leave no size out, and colors spread over the ramp."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.figures.size_steps import STEPS, size_steps


@pytest.mark.parametrize("different", [1, 2, 3, 4, 5, 6, 7, 23])
def test_every_size_is_in_one_step_and_all_steps_hold_some(different):
    sizes = np.repeat(np.arange(1, different + 1) ** 2, 3)
    steps = size_steps([sizes, sizes[:4]])
    assert len(steps.bounds) == min(different, STEPS)
    for size, color in zip(sizes.tolist(), steps.of(sizes).tolist(), strict=True):
        (inside,) = [k for k, (least, most) in enumerate(steps.bounds) if least <= size <= most]
        assert steps.colors()[inside] == color
    assert len(set(steps.colors())) == len(steps.bounds) == len(steps.names("segments"))


def test_one_size_alone_has_the_color_in_the_middle():
    assert size_steps([np.array([7, 7])]).colors() == [2]


def test_where_there_is_nothing_there_is_no_step():
    assert size_steps([]).bounds == () and size_steps([]).names("segments") == []
    assert size_steps([np.zeros(0, int)]).of(np.zeros(0, int)).tolist() == []
