"""Levers that do not fit each other or the machine are refused by their path, by a plan and by a run alike."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from workbench.cli import main
from workbench.errors import InputError

SWEEP = {
    "engine": "translation",
    "machine": {"preset": "patent_pilot", "private_entries": 32, "private_ways": 8},
    "workload": {"regime": "pilot_zipf", "count": 200},
    "policy": {"locate": "directory"},
    "seeds": 1,
}
TOO_MANY = {"sharing_aware_eviction": {"candidates": 9}}
ANOTHER = {"protect_low_degree": {"candidates": {"vary": [4, 33]}}}
CASES = [
    ({"policy": {"eviction": TOO_MANY}}, r"policy.eviction.sharing_aware_eviction.candidates must be at most "),
    ({"policy": {"eviction": ANOTHER}}, r"policy.eviction.protect_low_degree.candidates must be at most private_ways"),
    ({"policy": {"locate": {"directory": {"entries": 1}}}}, "policy.locate.directory.entries must be 0 (no limit) or"),
    ({"policy": {"locate": {"directory": {"entries": 31}}}}, "at least private_entries (32). Got 31. Nearest: 32."),
    ({"workload": {"synthetic": "tiled_gemm", "warp_size": 48}}, "workload.warp_size must be a power of two from 8"),
    ({"workload": {"synthetic": "tiled_gemm", "warp_size": 128}}, "workload.warp_size must be a power of two from 8"),
]
IDS = ["candidates", "varied", "one", "less", "no power", "too many"]


@pytest.mark.parametrize(("wrong", "sentence"), CASES, ids=IDS)
def test_wb_run_refuses(wrong, sentence):
    with pytest.raises(InputError) as refused:
        wb.run({**SWEEP, **wrong})
    assert sentence in str(refused.value)


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(("wrong", "sentence"), CASES, ids=IDS)
def test_commands_refuse_and_write_nothing(command, wrong, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.yaml").write_text(json.dumps({**SWEEP, **wrong}), encoding="utf-8")
    assert main([command, "wrong.yaml"]) == 2
    assert sentence in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["wrong.yaml"]


def test_what_fits_just_so_is_a_run():
    policy = {"eviction": {"sharing_aware_eviction": {"candidates": 8}}, "locate": {"directory": {"entries": 32}}}
    assert len(wb.run({**SWEEP, "policy": policy, "measures": ["shared_per_kilo"]}).summary())
