"""A workgroup file read line by line with Python's own `csv`: what the fast reader must accept, and nothing else."""

from __future__ import annotations

import csv
import io

NAMES = ["arrival", "length", "duration"]
LEAST = {"arrival": 0, "length": 1, "duration": 1}
MOST = {"arrival": 10**15, "length": 2**31, "duration": 10**15}


def read(content: bytes) -> dict[str, list[int]] | None:
    """The columns, or None if anything at all is not as it must be; the sum of all times is not looked at."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    header = [name.strip().strip('"') for name in lines[0].split(",")]
    if sorted(header) != sorted(NAMES) or len(lines) < 2:
        return None
    result: dict[str, list[int]] = {name: [] for name in NAMES}
    for line in lines[1:]:
        rows = list(csv.reader(io.StringIO(line), quoting=csv.QUOTE_NONE))
        if len(rows) != 1 or len(rows[0]) != 3:
            return None
        for name, field in zip(header, rows[0], strict=True):
            if not field or any(character not in "0123456789" for character in field):
                return None
            if not LEAST[name] <= int(field) <= MOST[name]:
                return None
            result[name].append(int(field))
    if any(later < earlier for earlier, later in zip(result["arrival"], result["arrival"][1:], strict=False)):
        return None
    return result
