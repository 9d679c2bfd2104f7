"""Accel-Sim / NVBit traces, written and read the slow way, from the format's description."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from typing import Any, NamedTuple

OF_SHARED = {"LDS", "STS", "LDSM"}


class Op(NamedTuple):
    """One instruction of a warp."""

    opcode: str
    addresses: dict[int, int]
    """By lane; none of a memory instruction that is switched off, None of what is no memory instruction."""
    mode: int = -1


def written(op: Op, pc: int, immediate: bool) -> str:
    """The line of an instruction behind its block and warp."""
    if op.mode < 0:
        return f"{pc:04x} ffffffff 1 R1 {op.opcode} 0 0" + (" 7" if immediate else "")
    mask = sum(1 << lane for lane in op.addresses)
    lanes = [op.addresses[lane] for lane in sorted(op.addresses)]
    steps = [b - a for a, b in pairwise(lanes)]
    if op.mode == 0:
        how = ["0", *(f"0x{address:016x}" for address in lanes)]
    elif op.mode == 1:
        how = ["1", f"0x{lanes[0] if lanes else 0:x}", str(steps[0] if steps else 0)]
    else:
        how = ["2", f"0x{lanes[0] if lanes else 0:x}", *map(str, steps)]
    return f"{pc:04x} {mask:08x} 1 R4 {op.opcode} 2 R2 R4 4 {' '.join(how)}" + (" 7" if immediate else "")


def header(grid: tuple, block: tuple, version: int, lineinfo: bool = False) -> str:
    lines = [
        "-kernel name = _Z1kPf", "-kernel id = 1", f"-grid dim = ({','.join(map(str, grid))})",
        f"-block dim = ({','.join(map(str, block))})", "-shmem = 1024", "-nregs = 32", "-binary version = 80",
        "-cuda stream id = 0", "-shmem base_addr = 0x00007f0000000000", "-local mem base_addr = 0x00007e0000000000",
        "-nvbit version = 1.5.5", f"-accelsim tracer version = {version}",
        *(["-enable lineinfo = 1"] if lineinfo else []), "",
        "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?]",
    ]  # fmt: skip
    return "\n".join(lines) + "\n\n"


def raw(warps: list[tuple[tuple, int, Op]], grid: tuple, block: tuple, version: int, lineinfo: bool = False) -> str:
    """A raw trace: (thread block, warp, instruction) in the order of draining."""
    line = "31 " if lineinfo else ""
    body = "".join(
        f"{x} {y} {z} {warp} {line}{written(op, 16 * n, version == 5)}\n"
        for n, ((x, y, z), warp, op) in enumerate(warps)
    )
    return header(grid, block, version, lineinfo) + body


def grouped(blocks: dict[tuple, dict[int, list[Op]]], grid: tuple, block: tuple, version: int) -> str:
    """A grouped trace: thread blocks with their warps."""
    text = header(grid, block, version)
    for place, warps in blocks.items():
        text += f"\n#BEGIN_TB\n\nthread block = {','.join(map(str, place))}\n"
        for warp, ops in warps.items():
            lines = [written(op, 16 * n, version == 5) for n, op in enumerate(ops)]
            text += "\n".join(["", f"warp = {warp}", f"insts = {len(ops)}", *lines, ""])
        text += "\n#END_TB\n"
    return text


def facts(ops: list[Op], page_bytes: int) -> dict[str, Any]:
    """What a trace of these instructions holds."""
    real = [op for op in ops if not (op.opcode.startswith("LDGSTS") and _small(op))]
    memory = [op for op in real if op.mode >= 0]
    touching = [op for op in memory if op.opcode.split(".")[0] not in OF_SHARED and not _small(op)]
    addresses = [address for op in touching for address in op.addresses.values()]
    return {
        "instructions": len(real),
        "memory_instructions": len(memory),
        "global_memory_instructions": len(touching),
        "global_addresses": len(addresses),
        "pages_4k": len({address // page_bytes for address in addresses}),
    }


def pages(op: Op, page_bytes: int, change=lambda address: address) -> list[int]:
    """The pages that an instruction asks a TLB for."""
    if op.mode < 0 or op.opcode.split(".")[0] in OF_SHARED or _small(op):
        return []
    return sorted({change(address) // page_bytes for address in op.addresses.values()})


def _small(op: Op) -> bool:
    """Whether its addresses are offsets in shared memory."""
    first = next(iter(op.addresses.values()), None) if op.mode >= 0 else None
    return first is not None and first < 1 << 24


def read_raw(text: str) -> dict[str, Any]:
    """Counts of a raw trace of version 3, by pattern."""
    body = text.split("#traces format", 1)[1].split("\n", 1)[1]
    result = defaultdict(int)
    touched = set()
    for line in filter(str.strip, body.splitlines()):
        result["instructions"] += 1
        match = re.search(r" (LD\S*|ST\S*) \d(?: R\d+)* [1-9]\d* 1 0x(\w+) (-?\d+)", line)
        if match:
            mask = int(line.split()[5], 16)
            start, stride = int(match[2], 16), int(match[3])
            touched |= {(start + lane * stride) // 4096 for lane in range(mask.bit_count())}
            result["global_addresses"] += mask.bit_count()
    return {**result, "pages_4k": len(touched)}
