"""The requests of one compute unit from a list of kernels, by dealing out every workgroup one at a time."""

import math

from tests.oracles.residency import resident


def requests(kernels, machine, spec):
    """(arrival, length, duration) of every request, in the order of the queue.

    kernels: dictionaries with start_ns, duration_ns, workgroups, threads, shared_bytes, vgprs (-1 = not recorded).
    """
    launched = sorted(kernels, key=lambda kernel: kernel["start_ns"])
    unit, dealt = 0, []
    for kernel in launched:
        if spec["sharing"] == "restart":
            unit = 0
        mine = 0
        for _ in range(kernel["workgroups"]):
            mine += unit == spec["unit"]
            unit = (unit + 1) % machine["compute_units"]
        requested = kernel["shared_bytes"]
        taken = math.ceil((requested + machine["reserved_bytes"]) / machine["granule_bytes"])
        is_request = taken > 0 if spec["without_shared_memory"] == "reserve" else requested > 0
        if not is_request:
            mine = 0
        if spec["most_a_kernel"]:
            mine = min(mine, spec["most_a_kernel"])
        dealt += [(kernel, taken)] * mine
    if spec["count"]:
        dealt = dealt[: spec["count"]]
    return [_row(kernel, taken, dealt[0][0], machine, spec) for kernel, taken in dealt]


def _row(kernel, taken, first, machine, spec):
    waited = kernel["start_ns"] - first["start_ns"] if spec["arrival"] == "recorded" else 0
    lasting = kernel["duration_ns"] / (_rounds(kernel, machine) if spec["duration_rule"] == "waves" else 1)
    return _cycles(waited, machine), taken, max(_cycles(lasting, machine), 1)


def _rounds(kernel, machine):
    """Fill all units with what they hold, round after round, until the grid is used up."""
    at_once = max(resident(machine, kernel["shared_bytes"], kernel["threads"], kernel["vgprs"]), 1)
    left, count = kernel["workgroups"], 0
    while left > 0:
        left -= at_once * machine["compute_units"]
        count += 1
    return max(count, 1)


def _cycles(time_ns, machine):
    cycles = round(time_ns * machine["clock_mhz"] / 1000)
    return max(cycles, 1) if time_ns > 0 else cycles
