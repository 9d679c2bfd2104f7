"""The groups of a trace from a list of kernels, one workgroup after the other, from the sentences of the model."""

from __future__ import annotations

import math
from typing import Any

from tests.oracles.trace_share import _cycles, _rounds


def groups(kernels: list[dict[str, Any]], machine: dict[str, Any], spec: dict[str, Any], seed: int) -> list[dict]:
    """One dictionary a group, in the order of the queue.

    kernels: dictionaries with start_ns, duration_ns, workgroups, threads, shared_bytes, vgprs, stream (-1 = unknown).
    """
    launched = sorted(kernels, key=lambda kernel: kernel["start_ns"])
    streams: list[int] = []
    for kernel in launched:
        if kernel["stream"] not in streams:
            streams.append(kernel["stream"])
    longest = spec["longest_us"] * 1000 or math.inf
    taken = [kernel for kernel in launched if kernel["duration_ns"] <= longest]
    window, windows = seed % spec["windows"], spec["windows"]
    taken = [k for n, k in enumerate(taken) if _window_of(n, len(taken), windows) == window]
    rows = []
    for kernel in taken:
        for number in range(kernel["workgroups"]):
            if spec["most_a_kernel"] and number >= spec["most_a_kernel"]:
                break
            if spec["count"] and len(rows) >= spec["count"]:
                break
            rows.append(_group(kernel, taken[0], streams, machine, spec))
    return rows


def _window_of(place: int, kernels: int, windows: int) -> int:
    """Walk over the windows; window w ends before kernel floor(kernels (w + 1) / windows)."""
    window = 0
    while place >= kernels * (window + 1) // windows:
        window += 1
    return window


def _group(kernel: dict, first: dict, streams: list[int], machine: dict, spec: dict) -> dict[str, Any]:
    channel = streams.index(kernel["stream"]) % spec["channels"]
    given = spec["priorities"]
    rule = spec["independent"]
    lasting = kernel["duration_ns"] / (_rounds(kernel, machine) if spec["duration_rule"] == "waves" else 1)
    waited = kernel["start_ns"] - first["start_ns"] if spec["arrival"] == "recorded" else 0
    shared = math.ceil((kernel["shared_bytes"] + machine["reserved_bytes"]) / machine["granule_bytes"])
    return {
        "arrival": _cycles(waited, machine),
        "channel": channel,
        "priority": given[channel] if channel < len(given) else given[-1],
        "waves": math.ceil(kernel["threads"] / machine["wave_size"]),
        "independent": rule == "all" or (rule == "without_shared_memory" and kernel["shared_bytes"] == 0),
        "duration": max(_cycles(lasting, machine), 1),
        "vgpr": math.ceil(kernel["vgprs"] / machine["vgpr_granule"]),
        "shared": shared,
    }
