"""Ports of TLBs: so many look-ups start a cycle, in the order in which they are asked for (spec 4, E11, T4)."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel


@kernel
def port_cycle(given: np.ndarray, resource: int, ports: int, now: int) -> int:
    """Give out the first cycle from now on at which a port starts a look-up; 0 ports = any number."""
    if ports == 0:
        return now
    cycle, count = given[2 * resource], given[2 * resource + 1]
    if now > cycle:
        cycle, count = now, 0
    elif count == ports:
        cycle, count = cycle + 1, 0
    given[2 * resource], given[2 * resource + 1] = cycle, count + 1
    return cycle
