"""The script for whoever has a card, on a planted one: its files are read by what reads the public ones."""

import csv
import json
import re
import subprocess
from pathlib import Path

import pytest

from benchmarks.on_a_card import card as card_module
from benchmarks.on_a_card.__main__ import main
from benchmarks.on_a_card.card import PROGRAM, NoCardError, card_of
from benchmarks.on_a_card.experiments import THREADS, shared_addresses
from tests.needs import needs
from tests.on_a_card import planted_card
from workbench.validation.validate import validate_files
from workbench.workloads.importers import read_trace


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder that the script wrote."""
    folder = tmp_path_factory.mktemp("card") / "out"
    assert main([str(folder)], lambda built: planted_card.measure) == 0
    return folder


def test_it_writes_a_file_an_experiment_and_none_that_does_not_fit_into_the_memory(measured):
    names = sorted(path.name for path in measured.iterdir())
    assert [name for name in names if name.startswith("blocks")] == [
        "blocks_one_stream.json",
        "blocks_one_stream_equal.json",
        "blocks_one_stream_shared_memory.json",
        "blocks_two_streams.json",
    ]
    assert [name for name in names if name.startswith("TLB")] == [
        "TLB-Test-1-5-64-256.csv",
        "TLB-Test-12-80-1024-4096.csv",
        "TLB-Test-48-300-1024-4096.csv",
    ]
    assert [name for name in names if name.startswith("scale")] == [
        *(f"scale_alloc_CUDA_{size}_1-65536.csv" for size in (1024, 16, 256, 4096, 64)),
        "scale_lock_CUDA_1-65536.csv",
    ]
    assert len(names) == 13


def test_logs_of_blocks_are_judged_and_the_planted_choice_is_the_confirmed_one(measured):
    (compared,) = (one for one in validate_files(measured, "dispatch") if one.data_set.name == "block_order")
    results = {result.law: result for result in compared.results}
    least = results["least_waves: SM of a block"]
    assert (least.error, least.verdict) == (0, "confirmed")
    assert results["least_waves: begin of a block"].error == 0
    assert results["first_module: SM of a block"].verdict == "refuted"
    assert "the card began with the SMs 12, 3, 8, 1" in least.note


def test_a_log_of_blocks_is_a_trace_too(measured):
    trace = read_trace(measured / "blocks_two_streams.json")
    assert (trace.format, trace.kernels.rows, trace.facts()["streams"]) == ("block_times_json", 4, 2)
    assert trace.cards[0].shared_memory_bytes == planted_card.SHARED
    assert trace.kernels.registers().tolist() == [16] * 4


def test_a_chase_has_the_lines_of_the_public_files(measured):
    lines = (measured / "TLB-Test-1-5-64-256.csv").read_text().splitlines()
    assert lines[:4] == [
        "#Planted 1: cuda 9.0, reduction mode: avg",
        "#,64,128,256,",
        "1,200,200,200,",
        "1.0625,200,,,",
    ]
    assert lines[18:23] == ["2,200,200,200,", "2.0625,231,,,", "2.125,230,260,,", "2.1875,231,,,", "2.25,230,260,200,"]
    assert lines[-1] == "5,230,260,260,"
    assert all(re.fullmatch(r"\d+(\.\d+)?,(\d*,){3}", line) for line in lines[2:])
    assert len(lines) == 2 + 65


def test_chases_of_both_platforms_are_judged(measured, tmp_path):
    """The first file has pages between its strides, so its planted level is the law of the engine."""
    for platform in ("cuda 9.0", "hip 9.4"):
        text = (measured / "TLB-Test-1-5-64-256.csv").read_text().replace("cuda 9.0", platform)
        (tmp_path / "TLB-Test-1-5-64-256.csv").write_text(text)
        (compared,) = validate_files(tmp_path, "translation")
        verdicts = {result.law: result.verdict for result in compared.results}
        assert {"confirmed"} == {verdict for law, verdict in verdicts.items() if "lru" in law and "plru" not in law}
        assert "refuted" in verdicts.values()


def test_a_curve_has_the_columns_of_the_survey(measured):
    rows = list(csv.reader((measured / "scale_lock_CUDA_1-65536.csv").open(), skipinitialspace=True))
    assert rows[0] == ["NumThreads", "mean", "std-dev", "min", "max", "median"]
    assert [int(row[0]) for row in rows[1:]] == list(THREADS) == [2**k for k in range(17)]
    _, mean, deviation, least, most, median = map(float, rows[3])  # nine times 0.04 and once 99
    assert (least, most, median) == (0.04, 99, 0.04)
    assert (mean, deviation) == (pytest.approx(9.936, abs=1e-3), pytest.approx(29.69, abs=1e-2))


def test_an_amd_card_gives_the_addresses_of_its_shared_memory(tmp_path):
    def amd(*arguments):
        lines = planted_card.measure(*arguments)
        return [line.replace("platform=cuda", "platform=hip") for line in lines]

    assert main([str(tmp_path)], lambda built: amd) == 0
    title, *rows = (tmp_path / "lds_addresses.csv").read_text().splitlines()
    assert title == "#Planted 1: hip 9.0"
    first = next(csv.DictReader(rows))
    assert first["unit"] == "12"
    assert (first["base_bytes"], first["bytes"], first["kernel"], first["block"]) == ("0", "4096", "0", "0")
    assert len(rows) == 1 + 5 * 6 * planted_card.UNITS
    assert shared_addresses(card_of(amd), amd).splitlines()[1:] == rows


def test_experiments_that_have_no_time_are_left_out_and_named(tmp_path, capsys):
    assert main([str(tmp_path), "--minutes", "-1"], lambda built: planted_card.measure) == 0
    assert list(tmp_path.iterdir()) == []
    assert "left out, as time is over: TLB-Test-1-5-64-256.csv" in capsys.readouterr().out


def test_an_experiment_that_fails_leaves_no_file_and_the_others_go_on(tmp_path, capsys):
    def without_heap(*arguments):
        if arguments[0] == "heap" and arguments[2] == 64:
            raise NoCardError("measure heap stopped: the heap of the card is too small")
        return planted_card.measure(*arguments)

    assert main([str(tmp_path)], lambda built: without_heap) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert not any("alloc" in name for name in names)
    assert {"scale_lock_CUDA_1-65536.csv", "TLB-Test-1-5-64-256.csv"} <= names
    assert "left out: scale_alloc_CUDA_16_1-65536.csv: measure heap stopped: the heap" in capsys.readouterr().out


def refused(folder, capsys):
    """The one sentence with which the script refuses; nothing is written."""
    assert main([str(folder / "out")]) == 2
    assert not (folder / "out").exists()
    (line,) = capsys.readouterr().err.splitlines()
    return line


def compiler(folder, text):
    """A made-up nvcc alone on the PATH."""
    place = folder / "nvcc"
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return str(folder)


def test_without_a_compiler_it_says_what_it_needs(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(tmp_path, capsys) == (
        "on_a_card needs nvcc (CUDA) or hipcc (ROCm) on the PATH, and neither is there."
    )


def test_a_compiler_that_fails_is_quoted_by_its_first_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", compiler(tmp_path, "echo 'error: no such card' >&2; echo more >&2; exit 1"))
    assert refused(tmp_path, capsys) == (
        "nvcc does not compile measure.cu for a card of this machine: error: no such card"
    )


def test_without_a_card_it_says_so(tmp_path, capsys, monkeypatch):
    program = (
        'for last; do :; done; shift 4; printf "#!/bin/sh\\necho no device >&2; exit 3\\n" >"$1"; /bin/chmod +x "$1"'
    )
    monkeypatch.setenv("PATH", compiler(tmp_path, program))
    assert refused(tmp_path, capsys) == "on_a_card found no card: measure card stopped: no device"


def test_each_compiler_has_options_for_the_card_that_is_there():
    assert set(card_module.COMPILERS) == {"nvcc", "hipcc"}
    assert all(any("native" in option for option in options) for options in card_module.COMPILERS.values())


@needs("g++")
def test_the_types_of_the_program_are_right_for_a_compiler_of_the_host(tmp_path):
    """Launches become calls; what only a card's compiler knows is declared in `host/cuda_runtime.h`."""
    source = re.sub(r"<<<.*?>>>", "", PROGRAM.read_text(), flags=re.DOTALL)
    assert type_errors(tmp_path, source) == ""
    assert "atomicCAS" in type_errors(tmp_path, source.replace("atomicCAS(lock, 0, 1)", "atomicCAS(lock, 0)"))


def type_errors(folder: Path, source: str) -> str:
    """Return what the compiler of the host says of a source."""
    (folder / "measure.cpp").write_text(source)
    headers = [f"-I{folder}" for folder in (Path(__file__).parent / "host", PROGRAM.parent)]
    command = [
        "g++",
        "-std=c++17",
        "-fsyntax-only",
        "-Wall",
        "-Wno-unused-function",
        "-Wno-unused-variable",
        *headers,
        folder / "measure.cpp",
    ]
    return subprocess.run(command, capture_output=True, text=True).stderr


def test_the_program_has_both_platforms_and_no_code_for_one_alone():
    header = (Path(PROGRAM).parent / "gpu.h").read_text()
    assert {"globaltimer", "wall_clock64", "smid", "HW_REG_XCC_ID", "HW_REG_LDS_ALLOC"} <= set(
        re.findall(r"\w+", header)
    )
    assert not re.search(r"\b(cuda|hip)[A-Z]\w+", Path(PROGRAM).read_text())


def test_logs_have_the_keys_of_the_public_tool(measured):
    log = json.loads((measured / "blocks_one_stream.json").read_text())
    kernel = log["times"][1]
    assert log["times"][0] == {}
    assert {"kernel_name", "block_count", "thread_count", "shared_memory", "block_times", "block_smids"} <= set(kernel)
    assert log["max_resident_threads"] == planted_card.UNITS * planted_card.THREADS
