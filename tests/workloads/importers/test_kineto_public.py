"""Every number that facts.json gives for a Kineto trace, and every column against a plain reader of the same file."""

from collections import Counter
from functools import lru_cache
from statistics import median

import numpy as np
import pytest

from tests.oracles import kineto as plain
from tests.public_traces import FACTS, files, needs_public_traces, path
from tests.slow import thinned
from workbench.workloads.importers import read_trace
from workbench.workloads.kernels import MISSING

pytestmark = needs_public_traces
COLUMNS = (
    "start_ns",
    "duration_ns",
    "device",
    "stream",
    "workgroups",
    "threads",
    "shared_bytes",
    "vgprs",
    "correlation",
)
LARGE = "kineto/tracelens_mi300x_xdit_sd35.json.gz"
"""Slow: read plainly, its 239,093 events take some seconds."""
EACH = [pytest.param(file, marks=[pytest.mark.slow] * (file == LARGE)) for file in files("kineto")]


@lru_cache
def _plainly(file):
    """The kernels, memory events and launches of a file, read the obvious way, once for both tests."""
    document = plain.load(path(file))
    return plain.kernels(document), plain.memory(document), plain.launch_shared(document)


@pytest.mark.parametrize("file", thinned(EACH, 9))
def test_every_column_is_what_a_plain_reader_finds(file):
    table, rows = read_trace(path(file)).kernels, _plainly(file)[0]
    assert [table.name_of(k) for k in range(table.rows)] == [row["name"] for row in rows]
    for field in COLUMNS:
        expected = [MISSING if row[field] is None else row[field] for row in rows]
        column = getattr(table, field)
        if column is None:
            assert expected == [MISSING] * table.rows, field
        else:
            assert column.tolist() == expected, field
    requests = [MISSING if bytes is None else bytes for bytes in _plainly(file)[2]]
    launched = table.launch_shared_bytes
    assert requests == ([MISSING] * table.rows if launched is None else launched.tolist())


@pytest.mark.parametrize("file", thinned(EACH, 99))
def test_every_number_of_the_facts(file):
    expected = dict(FACTS[file])
    result = _facts(file)
    unknown = set(expected) - set(result)
    assert not unknown, f"facts that no test looks at: {unknown}"
    for name, value in expected.items():
        assert value == result[name], name


def _facts(file):
    """The facts of facts.json, from the imported trace alone but for what the file recorded before grids are mended."""
    trace = read_trace(path(file))
    table, message = trace.kernels, trace.facts()
    result = {name: message[name] for name in ("format", "events", "kernels", "memcpys", "memsets")}
    result["device_properties"] = message.get("cards", 0)
    result |= _card(trace) | _memory(trace, message, file)
    if table.rows:
        result |= (
            _names(table, message, file)
            | _times(table, message)
            | _grids(table, message, file)
            | _resources(table, message, FACTS[file])
        )
    return result


def _card(trace):
    if not trace.cards:
        return {}
    card = trace.cards[0]
    amd = card.wave_size == 64  # Kineto names these two otherwise on AMD, and facts.json does not look there
    return {
        "device0": {
            "name": card.name,
            "numSms": card.compute_units,
            "warpSize": card.wave_size,
            "maxThreadsPerMultiprocessor": card.threads_a_unit,
            "regsPerMultiprocessor": card.registers_a_unit,
            "sharedMemPerMultiprocessor": None if amd else card.shared_memory_bytes,
            "sharedMemPerBlock": card.workgroup_shared_bytes,
            "totalGlobalMem": card.memory_bytes,
        }
    }


def _names(table, message, file):
    counts = Counter(table.name_of(k) for k in range(table.rows))
    top = FACTS[file]["top_kernel_names"]
    for start, count in top:
        assert any(name.startswith(start) and n == count for name, n in counts.items())
    assert [count for _, count in counts.most_common(len(top))] == [count for _, count in top]
    return {"unique_kernel_names": message["unique_names"], "top_kernel_names": top}


def _times(table, message):
    per_card = {}
    for card in np.unique(table.device):
        rows = table.device == card
        ends = (table.start_ns + table.duration_ns)[rows].tolist()
        per_card[str(card)] = list(zip(table.start_ns[rows].tolist(), ends, strict=True))
    lasting = table.duration_ns.tolist()
    return {
        "devices": [str(number) for number in message["device_numbers"]],
        "device_stream_pairs": message["streams"],
        "sum_duration_us": pytest.approx(message["total_duration_ns"] / 1000),
        "median_duration_us": pytest.approx(median(lasting) / 1000, abs=0.001),  # facts.json keeps three decimals
        "max_duration_us": pytest.approx(max(lasting) / 1000),
        "zero_duration_kernels": message["zero_durations"],
        "span_us": pytest.approx(message["span_ns"] / 1000, abs=1),  # facts.json rounds it to a microsecond
        "busy_union_us_by_device": {
            card: pytest.approx(plain.busy_union(spans) / 1000, abs=1) for card, spans in per_card.items()
        },
        "max_concurrent_kernels_by_device": {card: plain.most_at_once(spans) for card, spans in per_card.items()},
    }


def _grids(table, message, file):
    gridded = table.rows - max(table.lacking("workgroups"), table.lacking("threads"))
    result = {
        "kernels_with_grid_and_block": gridded,
        "kernels_with_correlation": table.rows - table.lacking("correlation"),
    }
    if not gridded:
        return result
    recorded = table.workgroups
    if "grids_in_work_items" in message:
        rows = _plainly(file)[0]
        recorded = np.array([MISSING if row["recorded_grid"] is None else row["recorded_grid"] for row in rows])
        assert message["grid_sum_recorded"] == recorded[recorded >= 0].sum()
    known = recorded >= 0
    blocks = Counter(",".join(map(str, block)) for block in table.block[known].tolist())
    threads = Counter(table.threads[known].tolist())
    return result | {
        "top_blocks_xyz": _top(blocks, FACTS[file]["top_blocks_xyz"]),
        "top_threads_per_block": _top(threads, FACTS[file]["top_threads_per_block"]),
        "max_threads_per_block": message["max_threads"],
        "sum_blocks": recorded[known].sum(),
        "max_blocks": recorded[known].max(),
        "sum_threads": (recorded[known] * table.threads[known]).sum(),
    }


def _resources(table, message, facts):
    result = {
        "kernels_with_shared_memory_field": table.rows - table.lacking("shared_bytes"),
        "kernels_with_registers_field": table.rows - table.lacking("vgprs"),
    }
    if "launches_with_shared_memory" in facts:
        result |= _launches(table, message)
    if table.shared_bytes is not None:
        shared = Counter(table.shared_bytes.tolist())
        result |= {
            "max_shared_memory": message["max_shared_bytes"],
            "kernels_shared_memory_nonzero": message["kernels_with_shared_memory"],
            "kernels_shared_memory_over_48k": sum(n for size, n in shared.items() if size > 48 * 1024),
            "top_shared_memory": _top(shared, facts["top_shared_memory"]),
        }
    if table.vgprs is not None:
        result["max_registers_per_thread"] = message["max_registers"]
        result["distinct_registers_per_thread"] = len(np.unique(table.vgprs))
    return result


def _launches(table, message):
    matched = int(np.count_nonzero(table.launch_shared_bytes != MISSING))
    return {
        "launches_with_shared_memory": message["kernels_with_launch_shared_memory"],
        "launches_matched_by_correlation": matched,
        "launches_with_nonzero_shared_memory": message["kernels_with_dynamic_shared_memory"],
    }


def _top(counts, expected):
    """The facts' own order among equals, after checking that they are the most frequent."""
    assert sorted(n for _, n in expected) == sorted(n for _, n in counts.most_common(len(expected)))
    return [[value, counts[value]] for value, _ in expected]


def _memory(trace, message, file):
    table = trace.allocations
    if table is None:
        return {}
    rows = _plainly(file)[1]
    on_cards = [row for row in rows if row[1] in (1, 6)]
    assert [(t, b, d) for t, _, d, b, _ in on_cards] == list(
        zip(table.time_ns.tolist(), table.bytes.tolist(), table.device.tolist(), strict=True)
    )
    return {
        "memory_events": len(rows),
        "memory_events_gpu": len(table.bytes),
        "memory_gpu": {
            "allocs": message["allocations"],
            "frees": message["frees"],
            "alloc_bytes": message["allocated_bytes"],
            "free_bytes": message["freed_bytes"],
            "with_address": 0 if table.address is None else len(table.address),
            "distinct_addresses": message.get("addresses", 0),
            "max_alloc_bytes": message["largest_allocation_bytes"],
            "max_total_allocated": message.get("peak_live_bytes", 0),
            "max_total_reserved": message.get("peak_reserved_bytes", 0),
            "device_type": sorted({row[1] for row in on_cards}),
            **_lives(table),
        },
    }


def _lives(table):
    """What becomes of each address, in the order of time."""
    live, never_seen, again = set(), 0, 0
    if table.address is not None:
        for size, address in zip(table.bytes.tolist(), table.address.tolist(), strict=True):
            if size > 0:
                again += address in live
                live.add(address)
            elif address in live:
                live.remove(address)
            else:
                never_seen += 1
    return {
        "frees_of_address_not_seen_allocated": never_seen,
        "allocs_still_live_at_end": len(live),
        "allocs_at_address_already_live": again,
    }
