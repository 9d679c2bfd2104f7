"""NVBit's mem_trace: launches and addresses, as facts and as accesses; what cannot be read names what can."""

import pytest

from tests.workloads.importers.profiles import TRACEZ, writer
from tests.workloads.importers.refusing import refusal
from workbench.errors import InputError
from workbench.machine import TranslationMachine
from workbench.streams import Streams
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.source import Source
from workbench.workloads.importers.warp_reader import WarpReader
from workbench.workloads.recorded_accesses import TraceAccesses

_CTX = "MEMTRACE: CTX 0x000055d0a7a3c0b0 -"


def _launch(number: int, name: str, grid: str, block: str) -> str:
    return (
        f"{_CTX} LAUNCH - Kernel pc 0x00007f2b6f000000 - Kernel name {name} - grid launch id {number} - "
        f"grid size {grid} - block size {block} - nregs 12 - shmem 2048 - cuda stream id 0"
    )


def _access(number: int, cta: str, warp: int, opcode: str, *addresses: int) -> str:
    lanes = " ".join(f"0x{address:016x}" for address in addresses)
    return f"{_CTX} grid_launch_id {number} - CTA {cta} - warp {warp} - {opcode} - {lanes} "


MEM_TRACE = "\n".join(
    [
        "------------- NVBit (NVidia Binary Instrumentation Tool v1.7.5) Loaded --------------",
        _launch(0, "vecAdd(float*, int)", "2,1,1", "64,1,1"),
        _access(0, "0,0,0", 0, "LDG.E", 0x7F0000000000, 0x7F0000000004, 0),
        _access(0, "1,0,0", 1, "STS.64", 0x10, 0x18),
        "Result: 3.0",
        _launch(1, "fill(int*)", "1,1,2", "32,1,1"),
        _access(1, "0,0,1", 0, "STG.E", 0x7F0000003000),
        "",
    ]
)
SAMPLES = {"mem_trace": ("nvbit_mem_trace", writer(MEM_TRACE))}


@pytest.fixture
def log(tmp_path):
    """The output of a program with two kernels."""
    path = tmp_path / "mem_trace.txt"
    path.write_text(MEM_TRACE)
    return path


def test_the_facts_of_an_output(log):
    assert read_trace(log).facts() == {
        "format": "nvbit_mem_trace",
        "kernels": 2,
        "unique_names": 2,
        "thread_blocks": 4,
        "max_shared_bytes": 2048,
        "registers": 12,
        "warps": 3,
        "memory_instructions": 3,
        "shared_memory_instructions": 1,
        "global_memory_instructions": 2,
        "global_addresses": 3,
        "pages_4k": 2,
        "pages_64k": 1,
        "pages_2m": 1,
        "lowest_address": "0x7f0000000000",
        "highest_address": "0x7f0000003000",
        "memory_opcodes": {"LDG": 1, "STG": 1, "STS": 1},
        "missing": ["it holds no times (it says what each warp executed, in its order, not when)"],
    }


def test_launches_that_are_counted_before_they_are_printed_are_the_same(log):
    log.write_text(MEM_TRACE.replace("grid launch id 1", "grid launch id 2").replace("launch id 0", "launch id 1"))
    assert read_trace(log).facts()["kernels"] == 2


def test_the_accesses_of_an_output(log):
    machine = TranslationMachine.read("patent_pilot", "machine")
    workload = TraceAccesses(trace=str(log), gap=4)
    block, other = list(workload.accesses(machine, Streams(0)))
    assert (block.page.tolist(), block.core.tolist()) == ([0x7F0000000000 // machine.page_bytes], [0])
    assert (other.page.tolist(), other.core.tolist()) == ([0x7F0000003000 // machine.page_bytes], [1])


ACCESS = "grid_launch_id 0 - CTA 1,0,0 - warp 1 - STS.64"
BAD = [
    (
        (ACCESS, "grid_launch_id 0 - CTA 2,0,0 - warp 1 - STS.64"),
        "line 4: expected a thread block of the grid (2, 1, 1). Got",
    ),
    ((ACCESS, "grid_launch_id 0 - CTA 1,0,0 - warp 2 - STS.64"), "line 4: expected a warp below 2. Got '2'."),
    (
        (ACCESS, "grid_launch_id 9 - CTA 1,0,0 - warp 1 - STS.64"),
        "line 4: expected an instruction of the 1 launches above.",
    ),
    (
        (ACCESS, "grid_launch_id ² - CTA 1,0,0 - warp 1 - STS.64"),
        "line 4: expected grid_launch_id, CTA, warp, opcode and",
    ),
    (
        ("0x0000000000000018", "0x00000000000000zz"),
        "line 4: expected grid_launch_id, CTA, warp, opcode and addresses in hex.",
    ),
    (
        ("0x0000000000000018", "0x000000000x000018"),
        "line 4: expected grid_launch_id, CTA, warp, opcode and addresses in",
    ),
    (("0x00007f0000003000", "0xff007f0000003000"), "line 7: expected addresses of at most 63 bits. Got"),
    (("grid size 2,1,1", "grid size 2,0,1"), "line 2: expected a grid and a block of at least 1 along each axis. Got"),
    (("grid size 2,1,1 - ", ""), "line 2: expected a launch with grid size, block size, nregs and shmem. Got"),
    (
        ("MEMTRACE: CTX 0x000055d0a7a3c0b0 - LAUNCH", "LAUNCH"),
        "line 3: expected an instruction of the 0 launches above.",
    ),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_a_bad_output_is_refused_in_one_sentence(log, change, says):
    log.write_text(MEM_TRACE.replace(*change))
    assert refusal(log).startswith(says)


def test_an_output_that_touches_nothing_gives_no_accesses(log):
    log.write_text("\n".join(line for line in MEM_TRACE.splitlines() if "TG.E" not in line and "DG.E" not in line))
    with pytest.raises(InputError, match="no instruction touches global memory, so there is no access"):
        TraceAccesses(trace=str(log)).check_machine(TranslationMachine.read("patent_pilot", "machine"))


UNREADABLE = [
    (
        "run.nsys-rep",
        b"\x01\x02",
        "a report of Nsight Systems",
        "nsys export --type sqlite --output run.sqlite run.nsys-rep",
    ),
    ("run.qdrep", b"\x01\x02", "a report of Nsight Systems", "nsys export --type sqlite --output run.sqlite run.qdrep"),
    ("run.ncu-rep", b"\x01", "a report of Nsight Compute", "ncu --import run.ncu-rep --csv --page raw > run.csv"),
    ("renamed", b"NVR\x00\x01", "a report of Nsight Compute", "ncu --import renamed --csv --page raw > renamed.csv"),
    (
        "kernel-1.tracez",
        TRACEZ,
        "a compressed trace of Accel-Sim 2 (zstd with a dictionary)",
        "traceDsm kernel-1.tracez",
    ),
    ("renamed", TRACEZ, "a compressed trace of Accel-Sim 2 (zstd with a dictionary)", "traceDsm renamed"),
]


@pytest.mark.parametrize(("name", "contents", "what", "command"), UNREADABLE)
def test_what_cannot_be_read_names_the_command_that_makes_what_can(tmp_path, name, contents, what, command):
    assert refusal(tmp_path / name, contents) == f"is {what}, which cannot be read; take `{command}`."


def test_a_list_that_names_a_compressed_trace_says_so_too(tmp_path):
    (tmp_path / "kernel-1.tracez").write_bytes(TRACEZ)
    with pytest.raises(InputError, match=r"take `traceDsm kernel-1\.tracez`"):
        WarpReader(Source(tmp_path / "kernel-1.tracez"))
