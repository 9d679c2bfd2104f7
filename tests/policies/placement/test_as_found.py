"""The rules of six open code bases, and what distinguishes them on one state (field.md 1.1-1.4)."""

from __future__ import annotations

from workbench.policies.placement import AS_FOUND, Placement
from workbench.policies.policy import policies, read_policy

STATE = "1100111100000111"
"""Holes of 2, 4 and 3 segments at 0, 4 and 13."""


def test_every_code_base_has_a_policy_of_its_own():
    assert len({type(policy) for policy in AS_FOUND.values()}) == len(AS_FOUND) == 6
    assert {type(policy) for policy in AS_FOUND.values()} <= set(policies("placement").values())


def test_a_sweep_says_them_by_name():
    named = [
        "first_fit",
        "byte_counter",
        "unsorted_free_list",
        "worst_fit",
        "best_fit",
        {"ring_buffer": {"when_empty": "keep"}},
    ]
    assert [read_policy("placement", name) for name in named] == list(AS_FOUND.values())


def answers(m: int) -> dict[str, int | None]:
    return {name: policy.place(STATE, m) for name, policy in AS_FOUND.items() if isinstance(policy, Placement)}


def test_they_differ():
    assert answers(3) == {
        "MGPUSim": 4,
        "gem5 LDS, GPGPU-Sim": 0,
        "gem5 VGPR": 4,
        "MIAOW": 4,
        "Ventus": 13,
        "Vortex": None,
    }
    assert answers(5)["gem5 LDS, GPGPU-Sim"] == 0
    assert all(start is None for name, start in answers(5).items() if name != "gem5 LDS, GPGPU-Sim")
