"""Kineto traces as they were really written: what is no JSON is mended where nothing reads it, and counted."""

import codecs
import json
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.kineto import Kineto

DATA = Path(__file__).parents[2] / "data" / "traces"
NVIDIA = (DATA / "kineto_nvidia.json").read_bytes()
FIRST = b'"traceEvents": ['
PYTHON = b'{"ph": "X", "cat": "python_function", "name": "%s", "ts": 1, "dur": 1, "args": {"occupancy": %s}}, '
KERNEL = '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": %s, "args": %s}]}'


def read(tmp_path, contents):
    (tmp_path / "t.json").write_bytes(contents)
    return read_trace(tmp_path / "t.json")


def with_event(name=b"f", occupancy=b"1"):
    return NVIDIA.replace(FIRST, FIRST + PYTHON % (name, occupancy))


@pytest.mark.parametrize(
    ("contents", "repaired"),
    [
        (with_event(rb"torch\cuda\__init__.py(219): _lazy_init"), {"backslashes": 2}),  # pytorch/pytorch#98432
        (with_event(rb"C:\Users\x \u12 \\ \" \n"), {"backslashes": 3}),
        (with_event(b"config.py(0): \x01\x1f"), {"control_characters": 2}),  # pytorch/pytorch#136180
        (with_event(b"isinf: inf, nan", b"inf"), {"numbers_without_value": 1}),  # pytorch/kineto#105
        (with_event(b"f", b"-Infinity"), {"numbers_without_value": 1}),
        (with_event(b"f", b"NaN"), {"numbers_without_value": 1}),
        (NVIDIA.replace(b'"by hand"', rb'"C:\runs\a.json"'), {"backslashes": 1}),
        (NVIDIA.replace(b'"pid": 0', b'"pid": "\x02"', 1), {"control_characters": 1}),
    ],
)
def test_what_nothing_reads_is_mended_and_counted(tmp_path, contents, repaired):
    result, whole = read(tmp_path, contents), read(tmp_path, NVIDIA)
    assert [column.tolist() for column in result.kernels[1:10]] == [column.tolist() for column in whole.kernels[1:10]]
    assert result.cards == whole.cards
    assert result.facts()["repaired"] == repaired
    assert "repaired" not in whole.facts()


@pytest.mark.parametrize(
    ("dur", "args", "says"),
    [
        ("inf", '{"device": 0}', "dur of event 1 must be a number of microseconds. Got '\"inf\"'"),
        ("1", '{"device": 0, "registers per thread": inf}', "the arguments of event 1 are not as Kineto writes them"),
        ("1", '{"device": 0, "grid": [nan, 1, 1]}', "the arguments of event 1 are not as Kineto writes them"),
        ("1", '{"device": \x01}', "its traceEvents are not events"),
        ("1", '{"device": 0 "stream": 1}', "its traceEvents are not events"),
    ],
)
def test_what_is_read_is_not_mended(tmp_path, dur, args, says):
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        read(tmp_path, (KERNEL % (dur, args)).encode())


@pytest.mark.parametrize(
    "encoded",
    [
        codecs.BOM_UTF8 + NVIDIA,
        NVIDIA.decode().encode("utf-16"),
        codecs.BOM_UTF16_BE + NVIDIA.decode().encode("utf-16-be"),
    ],
)
def test_a_mark_before_the_text_and_utf16_are_read(tmp_path, encoded):
    assert read(tmp_path, encoded).facts() == read(tmp_path, NVIDIA).facts()


@pytest.mark.parametrize("spaces", [1 << 21, (1 << 21) - 7])
def test_the_events_may_begin_behind_the_first_mebibyte(tmp_path, spaces):
    groups = json.dumps({"pg_config": ["x" * 100] * (spaces // 104)}).encode()
    large = NVIDIA.replace(b'"schemaVersion": 1', b'"schemaVersion": 1, "distributedInfo": ' + groups)
    assert large.index(b"traceEvents") > 1 << 20
    assert read(tmp_path, large).facts() == read(tmp_path, NVIDIA).facts()


def test_another_json_document_is_not_taken_for_one():
    assert not Kineto().recognises(b'{"hello": 1}')
    assert not Kineto().recognises(b'{"schemaVersion": 1, "events": []}')
    assert not Kineto().recognises(b'{"names": ["deviceProperties"' + b" " * (1 << 20))
    assert Kineto().recognises(b'{"deviceProperties": [' + b" " * (1 << 20))
