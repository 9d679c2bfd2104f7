"""Kernels that wait: the draws of random groups, each group with its kernel and a barrier."""

import numpy as np
import pytest

from workbench.machine import Machine
from workbench.streams import Streams
from workbench.workloads.synthetic.random_groups import RandomGroups
from workbench.workloads.synthetic.waiting_kernels import WaitingKernels

LEVERS = {"count": 40, "grid": {"uniform": [1, 8]}}


@pytest.mark.parametrize("barrier", ["all", "kernel"])
def test_groups_are_those_of_random_groups_with_a_barrier(barrier):
    for seed in range(3):
        plain = RandomGroups.read(LEVERS).groups(Machine(), Streams(seed))
        waiting = WaitingKernels.read({**LEVERS, "barrier": barrier}).groups(Machine(), Streams(seed))
        for column in ("arrival", "channel", "priority", "waves", "duration", "instructions"):
            np.testing.assert_array_equal(getattr(waiting, column), getattr(plain, column))
        kernels = np.unique(waiting.kernel)
        assert kernels.size > 1 and kernels.tolist() == list(range(kernels.size))
        for kernel in kernels:
            assert np.unique(waiting.waves[waiting.kernel == kernel]).size == 1
        expected = waiting.kernel if barrier == "kernel" else np.zeros(40, np.int64)
        np.testing.assert_array_equal(waiting.barrier, expected)
