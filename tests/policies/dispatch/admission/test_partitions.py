"""Partitions by channel and by kernel: which module is in which part, and what a machine refuses (spec 7, R20)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.errors import InputError
from workbench.policies.dispatch.admission import AdmissionContract, PartitionByChannel, PartitionByKernel

MODULES = 8


class TestByChannel(AdmissionContract):
    policy = PartitionByChannel(parts="0-3 | 4-7,12")


class TestByChannelAlone(AdmissionContract):
    policy = PartitionByChannel(parts="0,2-3 | ", others="nowhere")


class TestByKernel(AdmissionContract):
    policy = PartitionByKernel(parts="0 | 1 | 2-30")


class TestByKernelAlone(AdmissionContract):
    policy = PartitionByKernel(parts="1-2", others="nowhere")


def text_of(parts: list[set[int]]) -> str:
    return " | ".join(",".join(map(str, sorted(part))) for part in parts)


@examples(40, 400)
@given(
    st.lists(st.sets(st.integers(0, MODULES - 1)), min_size=2, max_size=4),
    st.sampled_from(["everywhere", "nowhere"]),
    st.sampled_from([PartitionByChannel, PartitionByKernel]),
)
def test_a_group_goes_to_its_part_alone(parts, others, kind):
    policy, number = kind(parts=text_of(parts), others=others), kind.name.removeprefix("partition_by_")
    for index in range(len(parts) + 1):
        own = parts[index] if index < len(parts) else set()
        expected = own or (set(range(MODULES)) if others == "everywhere" else set())
        admitted = {m for m in range(MODULES) if policy.admits([[]] * MODULES, m, **{number: index})}
        assert admitted == expected


def test_each_counts_by_its_own_number():
    held = [[], []]
    by_channel, by_kernel = PartitionByChannel(parts="0 | 1"), PartitionByKernel(parts="0 | 1")
    assert [by_channel.admits(held, m, channel=1, kernel=0) for m in (0, 1)] == [False, True]
    assert [by_kernel.admits(held, m, channel=1, kernel=0) for m in (0, 1)] == [True, False]


@pytest.mark.parametrize("parts", ["3-1", "a", "0-", "-2", "1;2", "0--3", "1.5", "0-1-2", "0-" + "9" * 5000, "٣"])
def test_what_is_no_list_of_modules_is_refused(parts):
    with pytest.raises(InputError) as wrong:
        PartitionByChannel(parts=parts)
    assert str(wrong.value).startswith("partition_by_channel.parts must be modules as ranges, such as `0-3,8 | 4-7`. ")


def test_a_module_that_the_machine_lacks_is_refused():
    policy = PartitionByKernel(parts="0-3 | 9")
    policy.check_modules(10)
    with pytest.raises(InputError) as wrong:
        policy.check_modules(8, "policy.admission.partition_by_kernel")
    assert str(wrong.value) == (
        "policy.admission.partition_by_kernel.parts names module 9; the machine has 0 to 7."
    )  # fmt: skip
