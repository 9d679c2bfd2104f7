"""The rules of three simulators, and what distinguishes them on the same rounds."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench.policies.dispatch as module
from workbench.policies.dispatch import AS_FOUND, Head, Selection
from workbench.policies.policy import policies, read_policy

LABELS = list(AS_FOUND)


@pytest.mark.parametrize("label", LABELS)
def test_each_is_made_of_policies_of_the_package_and_can_be_written_in_a_sweep(label):
    slots = AS_FOUND[label]
    assert list(slots) == ["priority", "selection", "stuck", "choice"]
    for slot, policy in slots.items():
        assert type(policy) is policies(slot)[policy.name]
        assert read_policy(slot, {policy.name: policy.plain()}) == policy


def test_no_two_are_the_same():
    assert len({tuple(slots.values()) for slots in AS_FOUND.values()}) == len(AS_FOUND) == 4


def picks(label: str) -> list[int | None]:
    """Kernels in channels 0, 1 and 2, launched in the order 1, 2, 0; that of channel 1 stops fitting for two rounds."""
    selection = AS_FOUND[label]["selection"]
    assert isinstance(selection, Selection)
    rounds, result = selection.rounds(channels=3), []
    for fits in (True, True, False, False, True, True):
        heads = (Head(0, rank=0, waited=5), Head(1, rank=0, waited=9, fits=fits), Head(2, rank=0, waited=7))
        result.append(rounds.pick(*(heads if result else heads[1:])))
    return result


def test_they_differ():
    assert {label: picks(label) for label in LABELS} == {
        "MGPUSim": [1, 2, 0, 2, 0, 1],
        "MGPUSim, greedy": [1, 2, 0, 2, 0, 1],
        "gem5": [1, 1, 2, 2, 1, 1],
        "GPGPU-Sim, kernels share an SM": [1, 1, None, None, 1, 1],
    }


def test_what_was_read_is_written_down_with_its_commit():
    text = (Path(module.__file__).parent / "DEVIATIONS.md").read_text(encoding="utf-8")
    for slots in AS_FOUND.values():
        assert all(f"`{slots[slot].name}`" in text for slot in ("selection", "choice"))
    for source in ("dispatcher.cc` @ 03222cc8", "roundrobin.go` @ a47151ce", "gpu-sim.cc` @ 011891ab"):
        assert source in text
