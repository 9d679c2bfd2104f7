"""Nsight Compute's CSV: the raw page and the details give the same kernels; a list has no starts."""

import pytest

from tests.workloads.importers.profiles import writer
from tests.workloads.importers.refusing import refusal
from workbench.errors import InputError
from workbench.workloads.importers import read_trace
from workbench.workloads.launches import launches_of

_NCU = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
NCU_RAW = f"""==PROF== Connected to process 4242 (/home/me/app)
==PROF== Profiling "gemm" - 0: 0%....50%....100% - 8 passes
{_NCU},"gpu__time_duration.sum","launch__registers_per_thread","launch__shared_mem_per_block_static","launch__shared_mem_per_block_dynamic"
"","","","","","","","","","","","ns","register/thread","byte/block","Kbyte/block"
"0","4242","app","127.0.0.1","gemm(float *)","1","7","(128, 1, 1)","(4, 2, 1)","0","9.0","5,000","64","1,024","49.15"
"1","4242","app","127.0.0.1","fill(int *)","1","7","(256, 1, 1)","(10, 1, 1)","0","9.0","500","16","0","0"
"""
_DETAIL = '"4242","app","127.0.0.1","{}","1","7","{}","{}","0","9.0","{}","{}","{}","{}","","","",""'
NCU_DETAILS = "\n".join(
    [
        f'{_NCU},"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","x"',
        *(
            f'"{key}",' + _DETAIL.format(name, block, grid, section, metric, unit, value)
            for key, name, block, grid, metrics in (
                ("0", "gemm(float *)", "(128, 1, 1)", "(4, 2, 1)", ("5.00", "64", "1.02", "49,152")),
                ("1", "fill(int *)", "(256, 1, 1)", "(10, 1, 1)", ("0.50", "16", "0", "0")),
            )
            for (section, metric, unit), value in zip(
                (
                    ("GPU Speed Of Light Throughput", "Duration", "us"),
                    ("Launch Statistics", "Registers Per Thread", "register/thread"),
                    ("Launch Statistics", "Static Shared Memory Per Block", "Kbyte/block"),
                    ("Launch Statistics", "Dynamic Shared Memory Per Block", "byte/block"),
                ),
                metrics,
            )
        ),
        "",
    ]
)
NCU_EUROPEAN = """==PROF== Connected to Process 143016
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","143016","python.exe","127.0.0.1","ampere_sgemm_128x64_nn","1","7","(512, 1, 1)","(128, 1, 1)","0","8.9","Command line profiler metrics","gpu__time_duration.sum","ns","117.344"
"0","143016","python.exe","127.0.0.1","ampere_sgemm_128x64_nn","1","7","(512, 1, 1)","(128, 1, 1)","0","8.9","Command line profiler metrics","dram__bytes.sum","byte","27.595.520"
"""
"""As ncu 2025.1 writes it on a machine where points stand between thousands: a kernel of 117 us."""
SAMPLES = {"ncu raw": ("ncu_csv", writer(NCU_RAW)), "ncu details": ("ncu_csv", writer(NCU_DETAILS))}


def written(tmp_path, text):
    """The trace of a text."""
    (tmp_path / "report.csv").write_text(text)
    return read_trace(tmp_path / "report.csv")


@pytest.mark.parametrize(("text", "shared", "known_to"), [(NCU_RAW, 1024 + 49150, 10), (NCU_DETAILS, 1020 + 49152, 10)])
def test_both_pages_kernel_by_kernel(tmp_path, text, shared, known_to):
    trace = written(tmp_path, text)
    table = trace.kernels
    assert table.unique_names == ("gemm(float *)", "fill(int *)")
    assert (table.start_ns.tolist(), table.duration_ns.tolist()) == ([0, 5000], [5000, 500])
    assert (table.workgroups.tolist(), table.threads.tolist()) == ([8, 10], [128, 256])
    assert table.block.tolist() == [[128, 1, 1], [256, 1, 1]]
    assert (table.shared_bytes.tolist(), table.vgprs.tolist()) == ([shared, 0], [64, 16])
    facts = trace.facts()
    assert (facts["kernels_with_duration"], facts["shared_bytes_rounded_to"]) == (2, known_to)
    assert facts["starts"] == "none; kernels follow one another"
    assert "span_ns" not in facts
    assert facts["missing"] == []


def without_durations(text):
    """A report without the metric of durations."""
    lines = [line for line in text.splitlines() if '"Duration"' not in line]
    return "\n".join(lines).replace("gpu__time_duration.sum", "sm__cycles_elapsed.max") + "\n"


@pytest.mark.parametrize("text", [NCU_RAW, NCU_DETAILS])
def test_a_list_without_durations_says_so(tmp_path, text):
    trace = written(tmp_path, without_durations(text))
    assert trace.kernels.rows == 2
    assert trace.missing() == [
        "it holds no times (collect the metric gpu__time_duration.sum, or record the program with nsys)"
    ]
    assert "total_duration_ns" not in trace.facts()
    with pytest.raises(InputError, match=r"cannot become workgroups: it holds no times \(collect the metric"):
        launches_of(trace)


def test_metrics_of_bytes_are_exact(tmp_path):
    text = NCU_RAW.replace("Kbyte/block", "byte/block").replace("49.15", "49,152")
    trace = written(tmp_path, text)
    assert trace.kernels.shared_bytes.tolist() == [50176, 0]
    assert "shared_bytes_rounded_to" not in trace.facts()


def test_a_raw_page_without_shared_memory_lacks_it(tmp_path):
    text = NCU_RAW.replace("launch__shared_mem_per_block_static", "sm__cycles_active.avg")
    assert written(tmp_path, text).missing()[0].startswith("2 of 2 kernels have no shared memory (")


def test_starts_follow_one_another_in_launches(tmp_path):
    launches, left_out = launches_of(written(tmp_path, NCU_RAW))
    assert (launches.start_ns.tolist(), launches.duration_ns.tolist(), left_out) == ([0, 5000], [5000, 500], 0)


def test_details_of_2020_have_grids_as_metrics(tmp_path):
    header = '"ID","Process ID","Process Name","Host Name","Kernel Name","Kernel Time","Context","Stream"'
    kernel = '"0","42","app","127.0.0.1","gemm","2020-May-01 10:00:00","1","7","Launch Statistics"'
    metrics = [("Grid Size", "", "8"), ("Block Size", "", "128"), ("Registers Per Thread", "register/thread", "64")]
    rows = [f'{kernel},"{name}","{unit}","{value}"' for name, unit, value in metrics]
    trace = written(
        tmp_path, "\n".join([f'{header},"Section Name","Metric Name","Metric Unit","Metric Value"', *rows, ""])
    )
    assert (trace.kernels.workgroups.tolist(), trace.kernels.threads.tolist()) == ([8], [128])
    assert (trace.kernels.block, trace.kernels.vgprs.tolist()) == (None, [64])


BAD = [
    (("(128, 1, 1)", "(128, 1)"), "line 5: block size must be like (256, 1, 1). Got '(128, 1)'."),
    (("(128, 1, 1)", "(1²8, 1, 1)"), "line 5: block size must be like (256, 1, 1). Got '(1²8, 1, 1)'."),
    (('"5,000"', '"soon"'), "line 5: gpu__time_duration.sum must be a number. Got 'soon'."),
    (('"5,000"', '"1e999999"'), "line 5: gpu__time_duration.sum must be a number. Got '1e999999'."),
    (('"ns"', '"fortnight"'), "line 5: gpu__time_duration.sum must be in ns, nsec, nsecond,"),
    (('"Kbyte/block"', '"pages"'), "line 5: launch__shared_mem_per_block_dynamic must be in b, byte, bytes, kb,"),
    (('"64","1,024"', '"64"'), "line 5: has 14 fields where the header has 15; the file is cut off or damaged."),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_a_bad_report_is_refused_in_one_sentence(tmp_path, change, says):
    (tmp_path / "t.csv").write_text(NCU_RAW.replace(*change))
    assert refusal(tmp_path / "t.csv").startswith(says)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("117.344", "gpu__time_duration.sum has points between thousands, as in some locales, or a part of what is"),
        ("1.117.344", "gpu__time_duration.sum has points between thousands"),
        (
            "117,34",
            "gpu__time_duration.sum has a comma that is not between thousands. Got '117,34'. Export it again in",
        ),
        ("1.117,34", "has a comma that is not between thousands"),
    ],
)
def test_numbers_of_another_locale_are_refused_not_read_a_thousand_times_too_small(tmp_path, value, says):
    with pytest.raises(InputError) as refused:
        written(tmp_path, NCU_EUROPEAN.replace("117.344", value))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("value", "unit", "ns"), [("117,344", "ns", 117_344), ("117.34", "us", 117_340), ("117", "ns", 117)]
)
def test_numbers_in_english_are_read(tmp_path, value, unit, ns):
    text = NCU_EUROPEAN.replace('"ns","117.344"', f'"{unit}","{value}"')
    assert written(tmp_path, text).kernels.duration_ns.tolist() == [ns]
