"""Whether kernels start together (spec 7, R26), against the slow twin, and as the command says it."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.oracles.between_cases import kernel_sets
from tests.oracles.between_coresident import coresident as slow_coresident
from tests.oracles.between_state import Case
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.explain.coresident import KernelGroups, read_kernels
from workbench.machine import Machine

NO_LIMIT = 64
RULES = {
    "first_module": "first_module",
    "best_fit": "best_fit_module",
    "round_robin": "round_robin",
    "most_free": "worst_fit_module",
}
"""The choices of the vector V18 by the words of the specification."""
SMALL_AND_LARGE = [KernelGroups(2, 64, barrier=0), KernelGroups(3, 128, barrier=0)]
FOUR_MODULES = Machine(compute_units=4, simds_a_unit=1, waves_a_unit=2)


def test_v18_two_spreading_choices_hang_and_two_modules_are_kept():
    answer = wb.coresident(SMALL_AND_LARGE, FOUR_MODULES, NO_LIMIT, choices=[*RULES.values()])
    assert [one.hangs for one in answer.outcomes] == [False, False, True, True]
    assert [(one.never_started, one.groups) for one in answer.outcomes[2:]] == [(1, 3), (1, 3)]
    assert answer.closed == 2
    assert answer.sentence == (
        "The kernels can hang under 2 of 4 module choices. Keep the last 2 of 4 modules for the last kernel, and none "
        "hangs."
    )


def kernels_of(case: Case) -> tuple[list[KernelGroups], Machine]:
    """The kernels of a twin's case, whose slots are waves of modules of one unit."""
    numbers = list(dict.fromkeys(group.kernel for group in case.groups))
    members = {number: [group for group in case.groups if group.kernel == number] for number in numbers}
    (slots,) = case.machine.resources
    kernels = [KernelGroups(len(of), 64 * of[0].demand["slots"], barrier=of[0].barrier) for of in members.values()]
    return kernels, Machine(compute_units=case.machine.modules(), simds_a_unit=1, waves_a_unit=slots.total)


def test_random_sets_hang_as_the_twin_says():
    hanging = 0
    for case in kernel_sets(40, seed=3):
        kernels, machine = kernels_of(case)
        answer = wb.coresident(kernels, machine, case.levers.dispatches_a_round or NO_LIMIT, choices=[*RULES.values()])
        expected = slow_coresident(case)
        assert dict(zip(RULES, (one.hangs for one in answer.outcomes), strict=True)) == expected.hangs, case
        assert answer.closed == expected.closed_modules, case
        hanging += any(expected.hangs.values())
    assert 5 < hanging < 40


def test_a_file_of_kernels_and_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "kernels.csv"
    file.write_text("groups,threads,barrier\n80,256,0\n2,1024,0\n")
    assert read_kernels(file) == [KernelGroups(80, 256, barrier=0), KernelGroups(2, 1024, barrier=0)]
    assert main(["coresident", str(file), "--machine", "h100"]) == 0
    assert "The kernels start under each of the 14 module choices." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("groups\n3\n", "Missing: threads"),
        ("groups,threads,waves\n3,64,1\n", "Unknown: waves"),
        ("groups,threads\n3,0\n", "row 1 (line 2): threads must be"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, says: str):
    file = tmp_path / "kernels.csv"
    file.write_text(text)
    with pytest.raises(InputError) as refused:
        read_kernels(file)
    assert says in str(refused.value)


def test_the_command_says_what_is_lacking_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "kernels.csv"
    file.write_text("groups,threads,shared_bytes,barrier\n80,64,10000,0\n128,1024,225000,0\n")
    assert main(["coresident", str(file), "--machine", "h100"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("h100, 132 modules: kernels of 80 and 128 workgroups ")
    assert (
        "affinity hangs at cycle 145: 62 of 128 groups never start, 146 wait at a barrier; 62 lack shared memory "
        "(group 146: 29 more on module 28)." in printed
    )


def test_a_kernel_alone_is_no_reason_to_keep_modules(capsys: pytest.CaptureFixture[str]):
    alone = wb.coresident([KernelGroups(5, 128)], FOUR_MODULES, NO_LIMIT, choices=["first_module", "round_robin"])
    assert (alone.sentence, alone.closed) == ("The kernel hangs under each of the 2 module choices.", None)
    pair = [KernelGroups(5, 128, barrier=0), KernelGroups(5, 128, barrier=0)]
    both = wb.coresident(pair, FOUR_MODULES, NO_LIMIT, choices=["first_module", "round_robin"])
    assert both.sentence == (
        "The kernels can hang under each of the 2 module choices. No number of modules kept for the last kernel "
        "prevents it."
    )


@pytest.mark.parametrize(
    ("columns", "row", "says"),
    [
        ("threads", "2048", "no unit holds a workgroup of it. Nearest: threads 1024."),
        ("threads,shared_bytes", "64,300000", "no unit holds a workgroup of it. Nearest: shared_bytes 232448."),
        ("threads,vgprs", "32,300", "no unit holds a workgroup of it. Nearest: vgprs 255."),
        ("threads,vgprs", "1024,72", "no unit holds a workgroup of it. Nearest: threads 896 or vgprs 64."),
        ("threads,cluster", "64,8", "groups must be a multiple of its cluster of 8. Got 12. Nearest: 16."),
    ],
)
def test_a_kernel_of_which_no_workgroup_fits_is_refused_by_its_row(tmp_path: Path, columns: str, row: str, says: str):
    file = tmp_path / "kernels.csv"
    file.write_text(f"groups,{columns}\n12,{row}\n")
    with pytest.raises(InputError) as refused:
        wb.coresident(file, "h100")
    assert str(refused.value) == f"{file}: row 1: {says}"


def test_a_group_that_no_machine_has_room_for_is_refused():
    with pytest.raises(InputError, match=r"^kernel 0: no unit holds a workgroup of it\. Nearest: threads 1024\.$"):
        wb.coresident([KernelGroups(1, 2048)], "h100")
    with pytest.raises(InputError, match="needs at least one kernel"):
        wb.coresident([], "h100")
