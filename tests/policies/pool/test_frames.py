"""Every choice of frames joins its contract, and answers as the twin's (spec 6, R10)."""

from random import Random

import pytest

from tests.oracles.node import frames as twin
from workbench.errors import InputError
from workbench.policies.pool import Longest, Lowest
from workbench.policies.pool.frames import FramesContract


class TestLongest(FramesContract):
    policy = Longest()


class TestLowest(FramesContract):
    policy = Lowest()


@pytest.mark.parametrize("policy", [Lowest(), Longest()], ids=["lowest", "longest"])
def test_takes_the_runs_of_the_twin(policy):
    draw, plain = Random(1), {"lowest": twin.lowest, "longest": twin.longest}[policy.name]
    for _ in range(60):
        free, at = [], 0
        for _ in range(draw.randrange(1, 9)):
            at += draw.choice([1, 5])
            free.append((at, draw.choice([1, 2, 2, 16, 512])))
            at += free[-1][1]
        needed = draw.randint(1, sum(length for _, length in free))
        assert policy.take(free, needed) == plain(free, needed)


def test_refuses_more_than_there_is():
    with pytest.raises(InputError, match=r"count must be at most the free granules\. Got 4\. Nearest: 3\."):
        Lowest().take([(0, 3)], 4)


def test_refuses_runs_that_touch():
    with pytest.raises(InputError, match="no two touch"):
        Lowest().take([(0, 3), (3, 1)], 1)
