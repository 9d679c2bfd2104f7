"""A group file read line by line with Python's own `csv`: what the fast reader must accept, and nothing else."""

from __future__ import annotations

import csv
import io

CLASSES = ["move", "load", "store", "matrix", "compare", "jump"]
RANGES = {
    "arrival": (0, 10**15),
    "channel": (0, 63),
    "priority": (1, 8),
    "waves": (1, 65536),
    "independent": (0, 1),
    "duration": (1, 10**15),
    "vgpr_blocks": (0, 4096),
    "sgpr_blocks": (0, 4096),
    "shared_segments": (0, 4096),
}


def read(content: bytes) -> list[dict[str, int]] | None:
    """One dictionary a row with all six counts of instructions, or None if anything is not as it must be."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    header = [name.strip().strip('"') for name in lines[0].split(",")]
    if len(lines) < 2 or len(set(header)) != len(header) or not set(RANGES) <= set(header):
        return None
    ranges = {name: RANGES.get(name) or _optional(name) for name in header}
    if None in ranges.values():
        return None
    rows = []
    for line in lines[1:]:
        fields = next(iter(csv.reader(io.StringIO(line), quoting=csv.QUOTE_NONE)), [])
        if len(fields) != len(header) or any(not f or set(f) - set("0123456789") for f in fields):
            return None
        row = dict(zip(header, map(int, fields), strict=True))
        if any(not ranges[name][0] <= value <= ranges[name][1] for name, value in row.items()):
            return None
        if rows and row["arrival"] < rows[-1]["arrival"]:
            return None
        for which in CLASSES:
            if row.setdefault(f"instr_{which}", 0) > row["duration"] * 2**20:
                return None
        rows.append(row)
    return rows


def _optional(name: str) -> tuple[int, int] | None:
    if name in [f"instr_{which}" for which in CLASSES]:
        return 0, 10**12
    label, _, tail = name.rpartition("_")
    return (0, 4096) if tail == "blocks" and label.isascii() and label.isidentifier() else None
