"""The kernels for a card, run on Numba's CUDA simulator in a process of its own; and what is said without a card."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import workbench.compiled.cuda as card
from workbench.errors import WorkbenchError
from workbench.validation.lock_fit import measured

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import numpy as np
from workbench.compiled.cuda import WAYS, card_name, launch
sizes = np.arange(1, 71)
found = {way: launch(way, sizes) for way in WAYS}
print(json.dumps([card_name(), {way: [b.address.tolist(), *map(int, b[1:])] for way, b in found.items()}]))
"""


@pytest.fixture(scope="module")
def told():
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "0"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


SIZES = list(range(1, 71))


@pytest.mark.parametrize("way", ["per_thread_lock", "per_thread_bump", "warp_lock", "warp_bump"])
def test_everybody_gets_a_piece_of_his_own(told, way):
    address, top, _, _ = told[1][way]
    pieces = sorted(zip(address, SIZES, strict=True))
    ends = [0] + [start + size for start, size in pieces]
    assert [start for start, _ in pieces] == ends[:-1]
    assert ends[-1] == top == sum(SIZES)


@pytest.mark.parametrize(("way", "taken"), [("per_thread_lock", 70), ("warp_lock", 3), ("warp_bump", 3)])
def test_the_lock_is_taken_once_a_thread_or_once_a_warp(told, way, taken):
    assert told[1][way][2] == taken


def test_lanes_of_a_warp_lie_in_their_order(told):
    """Spec 2, R10: exclusive sums within each warp, wherever its block begins."""
    for way in ("warp_lock", "warp_bump"):
        address = told[1][way][0]
        for first in range(0, 70, 32):
            block = address[first : first + 32]
            sums = [sum(SIZES[first : first + k]) for k in range(len(block))]
            assert [start - block[0] for start in block] == sums


def test_the_simulator_is_no_card_and_says_so(told):
    assert told[0] == "Numba's CUDA simulator"


def test_without_a_card_it_is_one_sentence(monkeypatch):
    monkeypatch.setattr(card, "cuda", SimpleNamespace(is_available=lambda: False))
    for requested in (card.needs_card, card.card_name, lambda: measured("warp_lock", [32])):
        with pytest.raises(WorkbenchError, match=r"needs an NVIDIA GPU with its driver; there is none\."):
            requested()
