"""Pool files: what may stand in them, whom they ask on which board, and what is refused."""

import pytest

from workbench.errors import InputError
from workbench.machine import Board, preset
from workbench.streams import Streams
from workbench.workloads.workload_key import read_workload

JOBS = """time,app,card,action,handle,bytes
0,0,gpu1,alloc,7,100
5,1,0,alloc,7,50
5,0,gpu1,free,7,0
6,0,cpu0,alloc,8,30
7,0,gpu1,free,9,11
"""


def asked(tmp_path, text=JOBS, machine=None):
    (tmp_path / "jobs.csv").write_text(text)
    workload = read_workload({"file": str(tmp_path / "jobs.csv")}, wants="pool_requests")
    workload.check_machine(machine or Board(), "workload", "a.yaml")
    return workload.pool_requests(machine or Board(), Streams(0))


def test_a_file_gives_its_rows(tmp_path):
    result = asked(tmp_path)
    assert result.time.tolist() == [0, 5, 5, 6, 7]
    assert result.app.tolist() == [0, 1, 0, 0, 0]
    assert result.action.tolist() == [0, 0, 1, 0, 1]
    assert result.bytes.tolist() == [100, 50, 100, 30, 11], "a free has the bytes of its allocation, if there was one"


def test_a_number_is_that_of_a_gpu_wherever_the_board_has_it(tmp_path):
    assert asked(tmp_path).card.tolist() == [2, 1, 2, 0, 2]
    assert asked(tmp_path, machine=preset("dgx_1v").machine()).card.tolist() == [3, 2, 3, 0, 3]


def test_two_applications_with_one_handle_get_their_own(tmp_path):
    assert asked(tmp_path).handle.tolist()[:3] == [0, 1, 0]


def test_handles_that_never_come_twice_stay_as_they_are(tmp_path):
    assert asked(tmp_path, JOBS.replace("5,1,0,alloc,7,", "5,1,0,alloc,40,")).handle.tolist() == [7, 40, 7, 8, 9]


def test_a_handle_may_come_again_once_it_was_freed_as_addresses_do(tmp_path):
    again = "8,0,gpu1,alloc,7,60\n9,0,gpu1,free,7,1\n9,0,gpu1,free,7,1\n"
    result = asked(tmp_path, JOBS + again)
    assert result.handle.tolist()[-3:] == [3, 3, 3], "the second free names what is free already, as the file does"
    assert result.bytes.tolist()[-3:] == [60, 60, 60]
    assert len(set(result.handle[result.action == 0].tolist())) == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            JOBS.replace("free,7", "fre,7"),
            "row 3 (line 4): action must be alloc or free. Got 'fre'. Did you mean free?",
        ),
        (JOBS.replace("gpu1,free,9", "gpu7,free,9"), "unknown card 'gpu7'; there are cpu0, gpu0, gpu1."),
        (JOBS.replace("5,1,0,", "5,1,2,"), "row 2 (line 3): card must be below 2, the number of GPUs, or a card's id."),
        (JOBS.replace("6,0,cpu0", "4,0,cpu0"), "row 4 (line 5): time must not be below the row above it (5). Got 4."),
        (JOBS.replace("alloc,8,30", "alloc,8,0"), "row 4 (line 5): bytes of an alloc must be at least 1. Got 0."),
        (JOBS.replace("alloc,8,30", "alloc,8,99999999999"), "row 4 (line 5): bytes must be at most 68719476736, which"),
        (JOBS.replace("app,", "", 1), "the first line must name the columns time,app,card,action,handle,bytes"),
        (JOBS.replace(",7,100", ",7"), "row 1 (line 2): must have 6 fields"),
        ("time,app,card,action,handle,bytes\n", "must have at least one row below the header."),
    ],
)
def test_what_is_wrong_is_said_with_its_row(tmp_path, text, says):
    with pytest.raises(InputError) as refused:
        asked(tmp_path, text)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
