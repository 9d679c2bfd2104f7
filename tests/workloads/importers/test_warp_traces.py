"""Accel-Sim traces of every version, layout, compression and encoding; the public one to its last number; bad ones."""

import gzip
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import warp_traces as oracle
from tests.oracles.warp_traces import Op
from tests.public_traces import FACTS, files, needs_public_traces, path
from tests.slow import examples
from workbench.errors import InputError
from workbench.workloads.importers import read_trace

BASE = 0x7F32C5500000
GRID, BLOCK = (2, 2, 1), (64, 1, 1)
LANES = st.sets(st.integers(0, 31), min_size=1, max_size=32).map(sorted)


@st.composite
def ops(draw):
    kind = draw(
        st.sampled_from(["MOV", "LDG.E.64.SYS", "STG.E", "LDS.U", "LDSM.16.M88.4", "ATOMG.ADD", "LD.E", "LDGSTS.E"])
    )
    if kind == "MOV":
        return Op(kind, {})
    mode = draw(st.sampled_from([0, 1, 2]))
    lanes = draw(LANES)
    base = 512 if kind.startswith("LDS") else BASE + draw(st.integers(0, 1 << 16)) * 4
    if mode == 1:
        stride = draw(st.sampled_from([0, 4, 4096, -4]) if base > 512 else st.just(4))
        return Op(kind, {lane: base + stride * n for n, lane in enumerate(lanes)}, 1)
    spread = st.integers(0, 1 << 14 if base > 512 else 64)
    return Op(kind, {lane: base + 4 * draw(spread) for lane in lanes}, mode)


def copied(op):
    """The other line that a raw trace has of an LDGSTS: where it copies to."""
    return [op._replace(addresses={lane: 64 + 4 * lane for lane in op.addresses}), op]


RAW = st.lists(
    st.tuples(st.sampled_from([(0, 0, 0), (1, 0, 0), (1, 1, 0)]), st.integers(0, 1), ops()), min_size=1, max_size=25
)
GROUPED = st.dictionaries(
    st.sampled_from([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]),
    st.dictionaries(st.integers(0, 1), st.lists(ops(), max_size=6), min_size=1),
    min_size=1,
)
VERSIONS = st.sampled_from([3, 4, 5])
PACKED = st.sampled_from([("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])


def facts_of(tmp_path_factory, text, name, packed):
    ending, pack = packed
    place = tmp_path_factory.mktemp("warps") / (name + ending)
    place.write_bytes(pack(text.encode()))
    return read_trace(place).facts()


@examples(20, 300)
@given(RAW, VERSIONS, st.booleans(), PACKED)
def test_a_raw_trace_is_counted_as_by_hand(tmp_path_factory, warps, version, lineinfo, packed):
    lines = [(b, w, one) for b, w, op in warps for one in (copied(op) if op.opcode == "LDGSTS.E" else [op])]
    text = oracle.raw(lines, GRID, BLOCK, version, lineinfo)
    result = facts_of(tmp_path_factory, text, "kernel-1.trace", packed)
    expected = oracle.facts([op for _, _, op in lines], 4096)
    assert expected["instructions"] == len(warps), "an LDGSTS counts once"
    assert result["format"] == "accelsim_trace_raw"
    assert {name: result[name] for name in expected} == expected
    assert (result["thread_blocks"], result["warps"]) == (len({b for b, _, _ in warps}), len({w[:2] for w in warps}))
    assert result["address_modes"] == {str(m): n for m in range(3) if (n := sum(op.mode == m for _, _, op in warps))}


@examples(15, 100)
@given(GROUPED, VERSIONS, PACKED)
def test_a_grouped_trace_is_counted_as_by_hand(tmp_path_factory, blocks, version, packed):
    every = [op for warps in blocks.values() for own in warps.values() for op in own]
    result = facts_of(tmp_path_factory, oracle.grouped(blocks, GRID, BLOCK, version), "kernel-1.traceg", packed)
    expected = oracle.facts(every, 4096)
    assert result["format"] == "accelsim_trace_grouped"
    assert {name: result[name] for name in expected} == expected
    assert result["instructions_declared"] == len(every)
    assert (result["tracer_version"], result["registers"], result["max_shared_bytes"]) == (version, 32, 1024)


@pytest.mark.slow
@needs_public_traces
@pytest.mark.parametrize("file", files("accelsim_trace_raw") + files("kernelslist"))
def test_every_number_of_the_public_facts(file):
    words = {"global_lane_addresses": "global_addresses", "shmem": "max_shared_bytes", "nregs": "registers"}
    result, expected = read_trace(path(file)).facts(), FACTS[file]
    assert {name: result.get(words.get(name, name)) for name in expected} == expected


def test_a_list_sums_its_kernels_and_says_which_are_absent(tmp_path):
    load = Op("LDG.E", {0: BASE}, 0)
    (tmp_path / "kernel-1.traceg.xz").write_bytes(
        lzma.compress(oracle.grouped({(0, 0, 0): {0: [load]}}, GRID, BLOCK, 4).encode())
    )
    (tmp_path / "kernel-3.trace").write_text(oracle.raw([((0, 0, 0), 1, load)], GRID, BLOCK, 3))
    listing = tmp_path / "kernelslist.g"
    listing.write_text("MemcpyHtoD,0x00007f32c5500000,4096\nkernel-1.traceg.xz\nkernel-2.traceg\n")
    result = read_trace(listing).facts()
    expected = {
        "format": "kernelslist", "lines": 3, "kernels": 2, "copies": 1, "copy_bytes": 4096, "instructions": 1,
        "listed_but_absent": ["kernel-2.traceg"], "trace_files_not_listed": 1, "pages_4k": 1, "global_addresses": 1,
    }  # fmt: skip
    assert {name: result[name] for name in expected} == expected


OP = Op("LDG.E", {0: BASE, 1: BASE + 4}, 2)
MOV = Op("MOV", {})
RAW_TEXT = oracle.raw([((0, 0, 0), 0, OP), ((1, 0, 0), 1, MOV)], GRID, BLOCK, 3)
GROUPED_TEXT = oracle.grouped({(0, 0, 0): {0: [OP, MOV], 1: [MOV]}}, GRID, BLOCK, 5)
RAW_LINE, GROUPED_LINE = (len(text.splitlines()) for text in (RAW_TEXT, GROUPED_TEXT))
BAD = [
    (RAW_TEXT.replace("4 2 0x7f32c5500000 4", "4 2 0x7f32c5500000"), "line 16: must have 16 fields. It has 15."),
    (RAW_TEXT.replace("4 2 0x", "4 3 0x"), "line 16: expected an address encoding 0, 1 or 2 in field 14. Got '3'."),
    (
        RAW_TEXT.replace("00000003", "0000000g"),
        "line 16: expected an active mask of 32 lanes in hex in field 6. Got '0000000g'",
    ),
    (RAW_TEXT.replace("00000003", "100000003"), "line 16: expected an active mask of 32 lanes in hex in field 6."),
    (
        RAW_TEXT.replace("2 R2 R4 4 2", "two R2 R4 4 2"),
        "line 16: expected how many sources, a whole number in field 10. Got 'two'.",
    ),
    (RAW_TEXT.replace(" R4 LDG.E", " R4 7"), "line 16: expected an opcode in field 9. Got '7'."),
    (
        RAW_TEXT.replace("0x7f32c5500000", "0x7f32c55oo000"),
        "line 16: expected addresses in hex and whole differences from",
    ),
    (RAW_TEXT.replace("0x7f32c5500000", "0x8000000000000000"), "line 16: expected addresses of at most 63 bits."),
    (
        RAW_TEXT.replace("1 0 0 1 0010", "5 0 0 1 0010"),
        "line 17: expected a thread block of the grid (2, 2, 1). Got '(5, 0, 0)'.",
    ),
    (RAW_TEXT.replace("1 0 0 1 0010", "1 0 0 9 0010"), "line 17: expected a warp below 2. Got '9'."),
    (
        RAW_TEXT.replace("1 0 0 1 0010", "1 0 x 1 0010"),
        "line 17: expected thread block x, y, z and warp. Got '1 0 x 1'.",
    ),
    (RAW_TEXT + "#BEGIN_TB\n", "line 18: expected an instruction, as in the raw trace above it. Got '#BEGIN_TB'."),
    (
        RAW_TEXT + GROUPED_TEXT,
        "line 18: expected an instruction, as in the raw trace above it. Got '-kernel name = _Z1kPf'.",
    ),
    (RAW_TEXT[:-20], "line 17: expected"),
    (RAW_TEXT[: RAW_TEXT.index("#traces")], "ends within its header; expected a line `#traces format`."),
    (RAW_TEXT[: RAW_TEXT.index("0 0 0 0")], "ends after its header; expected instructions."),
    (RAW_TEXT.replace("version = 3", "version = 2"), "line 12: accelsim tracer version must be 3, 4 or 5. Got 2."),
    (RAW_TEXT.replace("(2,2,1)", "(2,2)"), "line 3: grid dim must be (x,y,z), each at least 1. Got '(2,2)'."),
    (RAW_TEXT.replace("-nregs = 32", "-nregs = many"), "line 6: nregs must be a whole number. Got 'many'."),
    (RAW_TEXT.replace("-grid dim = (2,2,1)\n", ""), "its header has no `-grid dim`, which every Accel-Sim trace has."),
    (
        RAW_TEXT.replace("-nregs = 32", "nregs 32"),
        "line 6: expected `-key = value` or `#traces format`. Got 'nregs 32'.",
    ),
    (GROUPED_TEXT.replace("#END_TB\n", ""), "is cut off; expected #END_TB of thread block 0. Got the end of the file."),
    (GROUPED_TEXT.replace("insts = 1", "insts = 3"), "expected 2 more instructions of warp 1. Got '#END_TB'."),
    (
        GROUPED_TEXT.replace("insts = 2", "insts = 1"),
        "expected `thread block =`, `warp =`, `insts =` or #END_TB. Got '0010",
    ),
    (GROUPED_TEXT.replace("insts = 1", "insts = one"), "expected 1 whole numbers. Got 'one'."),
    (GROUPED_TEXT.replace(" 0 0 7", " 0 0"), "must have 8 fields. It has 7."),
    (GROUPED_TEXT + RAW_TEXT, "expected #BEGIN_TB or the end of the file. Got '-kernel name = _Z1kPf'."),
    (
        GROUPED_TEXT[: GROUPED_TEXT.index("warp = 1") + 19],
        "is cut off; expected 1 more instructions of warp 1 of thread block 0.",
    ),
    (
        "MemcpyHtoD,0x1\nkernel-1.trace\n",
        "line 1: expected `kernel-...` or `MemcpyHtoD,address,bytes`. Got 'MemcpyHtoD,0x1'.",
    ),
]


@pytest.mark.parametrize(("text", "says"), BAD, ids=[says[:40] for _, says in BAD])
def test_a_trace_that_is_cut_off_or_mixed_is_refused_in_one_sentence(tmp_path, text, says):
    place = tmp_path / "kernel-1.trace"
    place.write_text(text)
    message = refusal(read_trace, place)
    assert message.startswith(f"{place}: ")
    assert says in message


@examples(60, 400)
@given(
    st.sampled_from([RAW_TEXT, GROUPED_TEXT]), st.integers(0, 1000), st.text("0123456789abcdef #=-(),x\nR", max_size=6)
)
def test_damage_anywhere_is_taken_or_refused_in_one_line(tmp_path_factory, text, at, damage):
    at %= len(text)
    place = tmp_path_factory.getbasetemp() / "damaged.trace"
    place.write_text(text[:at] + damage + text[at + len(damage) :])
    refusal(read_trace, place)


def test_a_compressed_trace_that_ends_too_early_says_so(tmp_path):
    place = tmp_path / "kernel-1.trace.xz"
    place.write_bytes(lzma.compress(RAW_TEXT.encode())[:-30])
    with pytest.raises(InputError, match="is cut off; its compressed data end too early"):
        read_trace(place)
