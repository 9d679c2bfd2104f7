"""Share by channel: how many modules a share is, and which modules remain open (spec 7, R20, V7)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.policies.dispatch.admission import AdmissionContract, ShareByChannel


class TestHalf(AdmissionContract):
    policy = ShareByChannel(share=0.5)


class TestUp(AdmissionContract):
    policy = ShareByChannel(share=0.07, round="up")


class TestNothing(AdmissionContract):
    policy = ShareByChannel(share=0.0)


class TestAll(AdmissionContract):
    policy = ShareByChannel(share=1.0)


@pytest.mark.parametrize(
    ("share", "modules", "down", "up"),
    [(0.5, 8, 4, 4), (0.3, 8, 2, 3), (0.07, 100, 7, 7), (0.0, 8, 1, 1), (1.0, 3, 3, 3), (1e-6, 8, 1, 1)],
)
def test_v7_how_many_modules_a_share_is(share, modules, down, up):
    assert ShareByChannel(share=share).most(modules) == down
    assert ShareByChannel(share=share, round="up").most(modules) == up


@examples(200, 2000)
@given(st.integers(0, 10**6), st.integers(1, 4096))
def test_a_share_is_exact(millionths, modules):
    share = Fraction(millionths, 10**6) * modules
    assert ShareByChannel(share=millionths / 10**6).most(modules) == max(math.floor(share), 1)
    assert ShareByChannel(share=millionths / 10**6, round="up").most(modules) == max(math.ceil(share), 1)


def test_a_channel_keeps_its_modules_and_leaves_them_to_others():
    held, half = [[(0, 0), (1, 1)], [(0, 0)], [], []], ShareByChannel(share=0.5)
    admitted = {channel: [half.admits(held, module, channel=channel) for module in range(4)] for channel in (0, 1, 2)}
    assert admitted == {0: [True, True, False, False], 1: [True] * 4, 2: [True] * 4}
