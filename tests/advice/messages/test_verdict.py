"""The verdict of public reports and of the cases at the edges of each rule."""

from __future__ import annotations

import json

import pytest

from workbench.advice.messages.answer import advise_message, bounds_of
from workbench.advice.messages.statistics import statistics_in
from workbench.errors import InputError

GIB, MIB = 1 << 30, 1 << 20


def text(request, card, free, allocated, unallocated, extra=""):
    return (
        f"OutOfMemoryError: CUDA out of memory. Tried to allocate {request}. GPU 0 has a total capacity of {card} "
        f"of which {free} is free. {extra}Of the allocated memory {allocated} is allocated by PyTorch, and "
        f"{unallocated} is reserved by PyTorch but unallocated."
    )


def verdict(*numbers, **more):
    (finding,) = advise_message(text(*numbers, **more)).findings
    return finding.verdict


SEVEN = [
    (
        "murong-xu/CADS#4",
        ("22.78 GiB", "31.47 GiB", "12.73 GiB", "9.08 GiB", "9.35 GiB"),
        "no_setting_helps",
        "0.70 GiB must",
    ),
    (
        "QwenLM/Qwen2.5-Omni#240",
        ("124.68 GiB", "95.22 GiB", "51.23 GiB", "25.50 GiB", "3.14 GiB"),
        "larger_than_card",
        "",
    ),
    (
        "zju3dv/Diffuman4D#20",
        ("960.00 MiB", "23.99 GiB", "15.52 GiB", "6.78 GiB", "76.36 MiB"),
        "memory_left",
        "a limit out",
    ),
    (
        "OpenHelix-Team/cobra#24",
        ("158.00 MiB", "23.69 GiB", "115.69 MiB", "22.14 GiB", "910.35 MiB"),
        "setting_can_help",
        "",
    ),
    (
        "vllm#7721",
        ("16.00 GiB", "44.53 GiB", "187.94 MiB", "43.67 GiB", "335.07 MiB"),
        "no_setting_helps",
        "15.49 GiB must",
    ),
    (
        "Tianhao-Qi/Mask2DiT#4",
        ("35.60 GiB", "79.33 GiB", "26.16 GiB", "11.97 GiB", "40.69 GiB"),
        "setting_very_likely_helps",
        "",
    ),
    (
        "huggingface/meshgen#7",
        ("1002.00 MiB", "8.00 GiB", "0 bytes", "13.98 GiB", "129.48 MiB"),
        "more_than_card",
        "shared",
    ),
    # more public reports of the same kinds
    (
        "jhc13/taggui#188",
        ("20.00 MiB", "4.00 GiB", "2.35 GiB", "825.15 MiB", "24.85 MiB"),
        "memory_left",
        "a limit outside",
    ),
    ("kaito#976", ("546.00 MiB", "15.77 GiB", "514.19 MiB", "13.73 GiB", "736.86 MiB"), "setting_can_help", ""),
    ("MGFN#35", ("1.70 GiB", "6.00 GiB", "0 bytes", "2.93 GiB", "2.30 GiB"), "setting_very_likely_helps", ""),
    ("sd-webui-replacer#74", ("27.12 GiB", "11.99 GiB", "0 bytes", "16.16 GiB", "144.59 MiB"), "larger_than_card", ""),
    ("OOTDiffusion#167", ("2.00 GiB", "4.00 GiB", "2.80 GiB", "0 bytes", "0 bytes"), "memory_left", "a limit outside"),
    ("pytorch#16417", ("22.00 MiB", "23.65 GiB", "11.06 MiB", "22.90 GiB", "194.87 MiB"), "setting_can_help", ""),
]


@pytest.mark.parametrize(("report", "numbers", "kind", "words"), SEVEN, ids=[report for report, *_ in SEVEN])
def test_public_reports_get_the_right_verdict(report, numbers, kind, words):
    result = verdict(*numbers)
    assert result.kind == kind and words in result.sentence


def test_what_must_go_is_what_was_asked_less_what_was_free_and_idle():
    assert verdict("3.00 GiB", "8.00 GiB", "1.00 GiB", "6.00 GiB", "512.00 MiB").must_go == 3 * GIB - GIB - 512 * MIB
    assert verdict("1002.00 MiB", "8.00 GiB", "0 bytes", "14.00 GiB", "0 bytes").must_go == 6 * GIB + 1002 * MIB
    edge = verdict("1.50 GiB", "8.00 GiB", "1.00 GiB", "6.00 GiB", "512.00 MiB")
    assert edge.kind == "setting_can_help", "it fits when all idle memory is given back"


def test_a_request_as_large_as_the_card_is_not_larger_and_rounding_is_not_shared_memory():
    assert verdict("8.00 GiB", "8.00 GiB", "7.50 GiB", "0 bytes", "0 bytes").kind == "no_setting_helps"
    assert verdict("1.00 GiB", "8.00 GiB", "0 bytes", "7.51 GiB", "505.00 MiB").kind == "no_setting_helps"
    assert verdict("1.00 GiB", "8.00 GiB", "0 bytes", "7.50 GiB", "600.00 MiB").kind == "more_than_card"


def test_a_process_fraction_is_the_limit_that_is_named():
    result = verdict("996.00 MiB", "44.43 GiB", "9.06 GiB", "17.44 GiB", "59.88 MiB", extra="17.69 GiB allowed; ")
    assert result.kind == "memory_left" and result.sentence.endswith("the process may take only 17.69 GiB.")
    assert result.details[0] == "Below that limit, 740.00 MiB must go."
    lines = advise_message(
        text("3.98 GiB", "31.84 GiB", "16.30 GiB", "6.74 GiB", "7.02 GiB", extra="17.51 GiB allowed; ")
    ).lines()
    assert "Below that limit, a setting can help." in lines
    assert any("set_per_process_memory_fraction" in line for line in lines)
    full = verdict("1.60 GiB", "8.00 GiB", "453.00 MiB", "6.41 GiB", "100.00 MiB", extra="6.80 GiB allowed; ")
    assert full.kind == "no_setting_helps" and full.must_go == round(1.6 * GIB) - (round(6.8 * GIB) - round(6.41 * GIB))


def test_a_few_mib_above_the_request_are_as_good_as_nothing():
    lines = advise_message(text("20.00 MiB", "1.96 GiB", "25.94 MiB", "967.98 MiB", "48.02 MiB")).lines()
    assert "That is 5.94 MiB more than asked, which the driver can keep: the card is full." in lines
    assert not any("Look for the limit" in line for line in lines)
    assert any(line.startswith("Release memory before that request") for line in lines)


def test_other_processes_and_private_pools_are_named_where_they_hold_much():
    extra = (
        "Process 1 has 25.34 GiB memory in use. Including non-PyTorch memory, this process has 5.55 GiB memory in use. "
    )
    lines = advise_message(text("576.00 MiB", "31.36 GiB", "370.69 MiB", "4.89 GiB", "77.08 MiB", extra=extra)).lines()
    assert lines[0].startswith("GPU 0: No setting helps: 128.23 MiB must go")
    assert any(line.startswith("26.03 GiB of the card lies outside this allocator") for line in lines)
    assert any("end other processes on the card" in line for line in lines)
    pools = "with 46.22 GiB allocated in private pools (e.g., CUDA Graphs), and"
    held = text("2.00 MiB", "47.53 GiB", "896.00 KiB", "47.00 GiB", "149.10 MiB").replace(
        "PyTorch, and", f"PyTorch, {pools}"
    )
    lines = advise_message(held).lines()
    assert lines[0].startswith("GPU 0: A setting can help"), "idle pools are no reason for great hope"
    assert "Private pools (CUDA graphs, MemPool) hold 46.22 GiB that no other request gets." in lines
    assert any(line.startswith("Capture fewer CUDA graphs") for line in lines)


def test_nothing_allocated_here_means_that_others_hold_it():
    lines = advise_message(text("978.00 MiB", "15.98 GiB", "630.00 MiB", "0 bytes", "0 bytes")).lines()
    assert lines[0].startswith("GPU 0: No setting helps: 348.00 MiB must go")
    assert "This process holds less: 0 bytes." in lines


def test_the_size_of_the_card_can_be_given_where_the_message_lacks_it():
    jax = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 34359738368 bytes."
    assert advise_message(jax).findings[0].verdict.kind == "unknown"
    assert advise_message(jax, card_bytes=16 * GIB).findings[0].verdict.kind == "larger_than_card"


MPS = "MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 512.00 MB, max allowed: 18.00 GB). "
RMM = (
    "std::bad_alloc: out_of_memory: RMM failure at:x: Maximum pool size exceeded (failed to allocate {size}): Not "
    "enough room to grow, current/max/try size = 70.0 GiB, 78.0 GiB, {size}"
)
OF_OTHERS = [
    (f"{MPS}Tried to allocate 768.00 MB on private pool.", "no_setting_helps", "256.00 MiB must go"),
    (
        "RESOURCE_EXHAUSTED: Attempting to allocate 128.00M. That was not possible. There are 80.00M free.",
        "no_setting_helps",
        "48.00 MiB must go (128.00 MiB asked, 80.00 MiB free)",
    ),
    ("Ran out of memory in memory space hbm. Used 20.00G of 15.50G hbm.", "larger_than_card", "4.50 GiB too much"),
    (RMM.format(size="9.0 GiB"), "setting_can_help", "which ends at 78.00 GiB"),
    (RMM.format(size="99.0 GiB"), "larger_than_card", "larger than RMM's pool"),
    ("RuntimeError: CUDA error: out of memory", "unknown", "holds no sizes"),
    ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.", "host_memory", "not the card's"),
    ("CUDA out of memory. Tried to allocate more than 1EB memory.", "larger_than_card", "larger than any card"),
]


@pytest.mark.parametrize(("message", "kind", "words"), OF_OTHERS)
def test_other_allocators_get_a_verdict(message, kind, words):
    (finding,) = advise_message(message).findings
    assert finding.verdict.kind == kind and words in finding.verdict.sentence


SUMMARY = """
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 1                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 2            |        cudaMalloc retries: 1         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |    1024 MiB |    4096 MiB |   89299 MiB |   88237 MiB |
|       from large pool |    1000 MiB |    4865 MiB |   89263 MiB |   88215 MiB |
|---------------------------------------------------------------------------|
| GPU reserved memory   |   12288 {unit} |   12420 {unit} |   16924 {unit} |    4504 {unit} |
|---------------------------------------------------------------------------|
| Non-releasable memory |   2048 MiB |    4096 MiB |   89299 MiB |   88237 MiB |
"""


@pytest.mark.parametrize("unit", ["MiB", "MB"])
def test_a_memory_summary_tells_whether_live_blocks_pin_much(unit):
    lines = advise_message(SUMMARY.format(unit=unit)).lines()
    assert lines[0] == (
        "GPU 1: A setting can help: 1.00 GiB allocated, 12.00 GiB reserved, 2.00 GiB pinned between live blocks "
        "(2 requests failed)."
    )


def test_memory_stats_are_read_as_json_as_python_and_as_an_ordered_dict():
    values = {"allocated_bytes.all.current": 9 << 30, "reserved_bytes.all.current": 10 << 30, "num_ooms": 0}
    nested = {"allocated_bytes": {"all": {"current": 9 << 30}}, "reserved_bytes": {"all": {"current": 10 << 30}}}
    pairs = f"OrderedDict({list(values.items())})"
    for printed in (json.dumps(values, indent=1), str(values), pairs, json.dumps(nested)):
        assert statistics_in(f"stats: {printed}")[0][1:4] == (9 << 30, 9 << 30, 10 << 30)
    lines = advise_message(json.dumps(values)).lines()
    assert lines[0].startswith("No setting helps much: 9.00 GiB allocated") and "no request failed so far" in lines[0]
    assert advise_message(str(values), card_bytes=8 << 30).findings[0].verdict.kind == "more_than_card"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("", "holds no out-of-memory message of PyTorch, JAX or RMM"),
        ("all is well", "holds no out-of-memory message"),
        ("{\"allocated_bytes.all.current\": ", "holds no out-of-memory message"),
        ("CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 8.00 GiB total capacity; 4.4", "is cut off after"),
    ],
)  # fmt: skip
def test_broken_text_is_one_sentence(wrong, words):
    with pytest.raises(InputError, match=words) as caught:
        advise_message(wrong)
    assert "\n" not in str(caught.value)


def test_what_a_message_adds_to_a_snapshot_is_the_card_less_what_lies_outside():
    it = advise_message(text("576.00 MiB", "31.00 GiB", "1.00 GiB", "4.00 GiB", "1.00 GiB"))
    assert tuple(bounds_of(it)) == (31 * GIB, 25 * GIB, 576 * MIB)
    assert bounds_of(it).usable_bytes == 6 * GIB, "free, allocated and idle: what the allocator could have"


def test_the_next_recording_fits_the_version():
    new = advise_message(text("1.00 GiB", "8.00 GiB", "0 bytes", "7.00 GiB", "100.00 MiB")).lines()
    assert any("_record_memory_history(max_entries=1_000_000)" in line for line in new)
    assert any("_cuda_attach_out_of_memory_observer" in line for line in new)
    old = "CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity; 5.00 GiB already allocated; "
    lines = advise_message(f"{old}0 bytes free; 7.00 GiB reserved in total by PyTorch)").lines()
    assert any("Update to PyTorch 2.1" in line for line in lines)
    assert any("memory_summary()" in line for line in lines) and not any("_record_memory_history" in it for it in lines)
