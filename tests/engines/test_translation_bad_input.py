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
OPTIONS = [
    ("large", {"page_sizes": {"by_range": {"ranges": [{"page_bytes": 4096}]}}},
     "options.page_sizes.by_range.ranges[0].page_bytes must be above the machine's page_bytes (4096)"),
    ("unaligned", {"page_sizes": {"by_range": {"ranges": [{"begin": 4096}]}}},
     "options.page_sizes.by_range.ranges[0].begin must be a multiple of page_bytes (2097152). Got 4096. Nearest: 0."),
    ("overlap", {"page_sizes": {"by_range": {"ranges": [{}, {}]}}}, "options.page_sizes.by_range.ranges must not over"),
    ("share", {"contiguity": {"runs": 4}, "contiguous_share": 0.5}, "options.contiguous_share must be 1 with"),
    ("node", {"walk_order": {"by_node": {"level": 4}}}, "options.walk_order.by_node.level must be a whole"),
    ("inclusive", {"bypass": "dead_entries", "inclusive": True}, "options.bypass must be never where the shared"),
    ("hardwear", {"walks_by": "hardwear"}, "options.walks_by: unknown way to walk 'hardwear'"),
]  # fmt: skip
CASES += [({"options": given}, sentence) for _, given, sentence in OPTIONS]
SHALLOW = {"preset": "patent_pilot", "walk_levels": 2}
CASES += [
    (
        {"machine": SHALLOW, "options": {"walk_order": {"by_node": {"level": 2}}}},
        "options.walk_order.by_node.level must be below the machine's walk_levels (2)",
    ),
    (
        {"machine": {"preset": "patent_pilot", "shared_entries": 0}, "options": {"bypass": "dead_entries"}},
        "options.bypass must be never where there is no shared TLB",
    ),
    (
        {
            "machine": {"preset": "patent_pilot", "wave_size": 32},
            "workload": {"synthetic": "tiled_gemm", "warp_size": 64},
        },
        "workload.warp_size must divide machine.wave_size (32), the threads of its warps. Got 64. Nearest: 32.",
    ),
    ({"machine": {"preset": "patent_pilot", "wave_size": 48}}, "machine.wave_size must be a power of two from 8 to 64"),
]
IDS = ["candidates", "varied", "one", "less", "no power", "too many", *(name for name, *_ in OPTIONS)]
CASES += [
    (
        {"machine": SHALLOW, "options": {"page_sizes": {"by_range": {"ranges": [{"page_bytes": 1 << 30}]}}}},
        "(4096) and leave a walk of 2 levels one to read (8192 to 536870912). Got 1073741824. Nearest: 536870912.",
    )
]
IDS += ["every level", "nothing shared", "shorter warps", "no power of two", "no level left"]


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
