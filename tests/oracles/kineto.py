"""A Kineto trace read the obvious way: the whole file as one JSON value, then loops over dictionaries.

What a kernel's grid means is taken from the launch call that has its correlation number.
"""

import gzip
import json
from decimal import Decimal

WORK_ITEM_CALLS = {"hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel"}


def load(path):
    """The document of a file, times as exact decimals."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        return json.load(file, parse_float=Decimal)


def kernels(document):
    """One dictionary a kernel, in the order of the file; a value that is not there is None."""
    listed = document if isinstance(document, list) else document["traceEvents"]
    in_work_items = set()
    if isinstance(document, dict) and "roctracer_version" in document:
        in_work_items = {e["args"]["correlation"] for e in listed if e.get("name") in WORK_ITEM_CALLS}
    result = []
    for event in listed:
        if event.get("ph") == "X" and event.get("cat") in ("kernel", "Kernel"):
            args = event["args"]
            grid, block = args.get("grid"), args.get("block")
            recorded = product(grid)
            if grid and args.get("correlation") in in_work_items:
                workgroups = product([-(-g // b) for g, b in zip(grid, block, strict=True)])
            else:
                workgroups = recorded
            result.append(
                {
                    "name": event["name"],
                    "start_ns": round(event["ts"] * 1000),
                    "duration_ns": round(event["dur"] * 1000),
                    "device": args["device"],
                    "stream": args.get("stream"),
                    "workgroups": workgroups,
                    "recorded_grid": recorded,
                    "threads": product(block),
                    "block": block,
                    "shared_bytes": args.get("shared memory"),
                    "vgprs": args.get("registers per thread"),
                    "correlation": args.get("correlation"),
                }
            )
    return result


def launch_shared(document):
    """The dynamic shared memory that each kernel's launch asked for, in the order of the kernels; None = no launch."""
    listed = document if isinstance(document, list) else document["traceEvents"]
    request = {}
    for event in listed:
        args = event.get("args") or {}
        if event.get("ph") == "X" and "shared memory" in args and event.get("cat") not in ("kernel", "Kernel"):
            request.setdefault(args["correlation"], args["shared memory"])
    rows = [event["args"] for event in listed if event.get("ph") == "X" and event.get("cat") in ("kernel", "Kernel")]
    return [request.get(args.get("correlation")) for args in rows]


def memory(document):
    """(time in ns, type of device, its number, bytes, address or None) of every memory event, by time."""
    listed = document if isinstance(document, list) else document["traceEvents"]
    results = []
    for event in listed:
        if event.get("ph") == "i" and event.get("name") == "[memory]":
            args = event["args"]
            row = (round(event["ts"] * 1000), args["Device Type"], args["Device Id"], args["Bytes"], args.get("Addr"))
            results.append(row)
    return sorted(results, key=lambda row: row[0])


def product(axes):
    """x * y * z, None for None."""
    if axes is None:
        return None
    x, y, z = axes
    return x * y * z


def busy_union(intervals):
    """How long at least one of the (start, end) intervals lasts."""
    total, until = 0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            total, until = total + end - start, end
        elif end > until:
            total, until = total + end - until, end
    return total


def most_at_once(intervals):
    """How many of the (start, end) intervals overlap at most; one that ends as another begins does not."""
    edges = sorted([(start, 1) for start, end in intervals] + [(end, -1) for start, end in intervals])
    now = most = 0
    for _, change in edges:
        now += change
        most = max(most, now)
    return most
