"""The statistics of PyTorch's allocator: the table of `torch.cuda.memory_summary()`, the values of `memory_stats()`."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.advice.messages.forms import parse_size

_SUMMARY = re.compile(r"PyTorch (\w+) memory summary, device ID (\d+)")
_CELL = r"\|\s*([\d,]+)\s*([KMGTP]?i?B)\s*"
_KEY = "allocated_bytes.all.current"


class Statistics(NamedTuple):
    """What an allocator held when its statistics were printed, in bytes."""

    device: int | None
    allocated: int
    allocated_peak: int
    reserved: int
    reserved_peak: int
    pinned: int
    """Free bytes next to live blocks of a segment, which cannot go back (`inactive_split`)."""
    failures: int
    """Requests that failed so far."""


def statistics_in(text: str) -> list[Statistics]:
    """Return the statistics that a text prints: tables, or the values of `memory_stats()` as JSON or as Python.

    >>> statistics_in('{"allocated_bytes.all.current": 512, "reserved_bytes.all.current": 2048, "num_ooms": 1}')[0][1:4]
    (512, 512, 2048)
    """
    tables = list(_SUMMARY.finditer(text))
    ends = [*(match.start() for match in tables[1:]), len(text)][: len(tables)]
    rows = [_of_table(match, text[match.start() : end]) for match, end in zip(tables, ends, strict=True)]
    values = _values(text) if _KEY in text or '"allocated_bytes"' in text else None
    if values is not None:
        rows.append(_of_values(values))
    return [one for one in rows if one is not None]


def _of_table(match: re.Match[str], table: str) -> Statistics | None:
    def row(name: str) -> tuple[int, int] | None:
        cells = re.search(rf"\|\s*{name}\s*{_CELL}{_CELL}", table)
        if cells is None:
            return None
        current, peak = parse_size(cells[1], cells[2]), parse_size(cells[3], cells[4])
        return (current or 0), (peak or 0)

    allocated, reserved = row("Allocated memory"), row("GPU reserved memory")
    if allocated is None or reserved is None:
        return None
    failures = re.search(r"OOMs:\s*(\d+)", table)
    pinned = row("Non-releasable memory") or (0, 0)
    return Statistics(int(match[2]), *allocated, *reserved, pinned[0], int(failures[1]) if failures else 0)


def _values(text: str) -> Mapping[str, Any] | None:
    """Return the result of `memory_stats()`, from a text between braces or from an `OrderedDict`."""
    begin, end = text.find("{"), text.rfind("}")
    pairs = text.find("OrderedDict([")
    try:
        if 0 <= begin < end:
            body = text[begin : end + 1]
            values = json.loads(body) if '"' in body else ast.literal_eval(body)
        elif pairs >= 0:
            values = dict(ast.literal_eval(text[pairs + len("OrderedDict(") : text.rfind("])") + 1]))
        else:
            return None
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return _flat(values) if isinstance(values, dict) else None


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested statistics under the names that `memory_stats()` joins with dots."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return flat


def _of_values(values: Mapping[str, Any]) -> Statistics | None:
    def of(name: str, otherwise: int = 0) -> int:
        value = values.get(name, otherwise)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise

    if _KEY not in values or "reserved_bytes.all.current" not in values:
        return None
    allocated, reserved = of(_KEY), of("reserved_bytes.all.current")
    return Statistics(
        device=None,
        allocated=allocated,
        allocated_peak=of("allocated_bytes.all.peak", allocated),
        reserved=reserved,
        reserved_peak=of("reserved_bytes.all.peak", reserved),
        pinned=of("inactive_split_bytes.all.current"),
        failures=of("num_ooms"),
    )
