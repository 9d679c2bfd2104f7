"""Requests to servers from CSV files: what publishers call their columns, what is refused, how it is named."""

from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.machine import preset
from workbench.streams import Streams
from workbench.workloads.pool_file import PoolFile
from workbench.workloads.serving import ServingFile
from workbench.workloads.workload_key import read_workload

AZURE = Path(__file__).parents[3] / "data" / "azure_llm_code_2023_first_400.csv"
BURST = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45.5,ChatGPT,1087,230,1317,Conversation log
118,GPT-4,0,0,0,Conversation log
"""
BOARD = preset("dgx_h100").machine()


def written(folder, text):
    place = folder / "requests.csv"
    place.write_bytes(text.encode())
    return place


def read(place, **levers):
    return read_workload({"file": str(place), **levers}, wants="pool_requests")


def test_a_public_trace_is_read_by_its_header():
    result = read(AZURE, longest=8192)
    assert isinstance(result, ServingFile)
    traffic = result.traffic(Streams(0))
    assert (len(traffic.arrival), traffic.prompt[:3].tolist(), traffic.answer[:3].tolist()) == (
        400,
        [4808, 3180, 110],
        [10, 8, 27],
    )
    assert traffic.arrival[:3].tolist() == [0, 52_000_000, 98_189_000]
    assert (np.diff(traffic.arrival) >= 0).all()


def test_failed_requests_are_left_out_and_seconds_may_have_fractions(tmp_path):
    traffic = read(written(tmp_path, BURST)).traffic(Streams(0))
    assert traffic.arrival.tolist() == [0, 40_500_000_000]
    assert traffic.answer.tolist() == [18, 230]


def test_ones_own_columns_count_and_speed(tmp_path):
    place = written(tmp_path, "answer_tokens,arrival_ns,prompt_tokens\r\n3,100,7\r\n4,300,8\r\n5,900,9\r\n")
    traffic = read(place, count=2, speed=2.0).traffic(Streams(0))
    assert [column.tolist() for column in traffic] == [[0, 100], [7, 8], [3, 4], [-1, -1]]


def test_other_csv_files_are_requests_for_memory_as_before(tmp_path):
    place = written(tmp_path, "time,app,card,action,handle,bytes\n0,0,0,alloc,1,64\n")
    assert isinstance(read(place), PoolFile)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("arrival_ns,prompt_tokens,answer_tokens\n", "at least one row with an answer"),
        ("arrival_ns,prompt_tokens,answer_tokens\n1,2\n", r"row 1 \(line 2\): must have 3 fields. It has 2"),
        ("arrival_ns,prompt_tokens,answer_tokens\n1,2,x\n", r"answer_tokens must be a whole number of tokens"),
        ("arrival_ns,prompt_tokens,answer_tokens\n9,2,1\n8,2,1\n", r"row 2 \(line 3\): arrival_ns must not be before"),
        ("arrival_ns,prompt_tokens,answer_tokens\nsoon,2,1\n", "arrival_ns must be a time. Got 'soon'"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-99-16 18:17:03.97,1,1\n", "TIMESTAMP must be a time"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        read(written(tmp_path, text))


def test_a_run_is_named_by_the_contents_and_every_seed_is_the_same(tmp_path):
    first = read(written(tmp_path, BURST))
    (tmp_path / "other").mkdir()
    assert read(written(tmp_path / "other", BURST)).identity() == first.identity()
    assert first.different_seeds(BOARD) == 1
    assert first.but(prefix_tokens=50, prefix_share=0.5).different_seeds(BOARD) is None
    assert read_workload(first.plain(), wants="pool_requests") == first


@pytest.mark.parametrize(
    ("levers", "says"),
    [
        ({"servers": 9}, "servers must be at most 8, the GPUs"),
        (
            {"cache_share": 0.01, "longest": 8192},
            r"longest must fit in the cache .* Nearest: \d+, or a larger cache_share",
        ),
    ],
)
def test_a_server_that_the_machine_cannot_hold_is_refused(levers, says):
    with pytest.raises(InputError, match=says):
        read(AZURE, **levers).pool_requests(BOARD, Streams(0))


def test_servers_take_turns():
    one, two = (read(AZURE, servers=count, count=40, longest=8192).served(BOARD, Streams(0)) for count in (1, 2))
    assert [len(it.finished) for it in (*one, *two)] == [40, 20, 20]


def test_blocks_waste_less_than_regions_in_the_pool():
    layouts = {"vary": ["reserve_longest", {"paged": 256}, {"paged": 16}]}
    workload = {"file": str(AZURE), "count": 60, "longest": 8192, "layout": layouts}
    sweep = {"engine": "pool", "machine": "dgx_h100", "workload": workload, "policy": {"target": "local_only"}}
    table = wb.run({**sweep, "seeds": 1}, workers=1).table
    unused = table["unused_rate"].tolist()
    assert unused == sorted(unused, reverse=True)
    assert unused[0] > 0.6
    assert unused[-1] < 0.03
    assert (table["reserved_unused_rate"] >= table["unused_rate"] - 1e-12).all()
    assert (table["completed_rate"] == 1).all()


def test_what_a_run_wastes_is_not_known_of_other_workloads():
    sweep = {"engine": "pool", "machine": "dgx_1v", "workload": {"synthetic": "mixed_jobs", "jobs": 3}, "seeds": 1}
    row = wb.run(sweep, workers=1).table.iloc[0]
    assert np.isnan(row["unused_rate"]) and np.isnan(row["reserved_unused_rate"])
    assert row["span_ns"] > 0
