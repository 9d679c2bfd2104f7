"""The base of every question's policies, by name: `workbench.policies` imports each when it is first used."""

from __future__ import annotations

BASES = {
    "Admission": "workbench.policies.dispatch.admission",
    "Arenas": "workbench.policies.malloc.arenas",
    "Cache": "workbench.policies.pool.cache",
    "CacheFit": "workbench.policies.pool.fit",
    "Choice": "workbench.policies.dispatch.choice.question",
    "Die": "workbench.policies.dispatch.die",
    "Eviction": "workbench.policies.translation.eviction.question",
    "Fill": "workbench.policies.translation.fill",
    "Frames": "workbench.policies.pool.frames",
    "HeapLock": "workbench.policies.malloc.lock",
    "HeapPolicy": "workbench.policies.malloc.heap",
    "IdleRelease": "workbench.policies.pool.idle",
    "Locate": "workbench.policies.translation.locate",
    "Peer": "workbench.policies.translation.peer",
    "Placement": "workbench.policies.placement.question",
    "Priority": "workbench.policies.dispatch.priority",
    "Probe": "workbench.policies.probes.question",
    "QueuePolicy": "workbench.policies.placement.queueing",
    "RemoteFill": "workbench.policies.translation.remote_fill",
    "Residency": "workbench.policies.pool.residency",
    "RetryPolicy": "workbench.policies.placement.queueing",
    "Selection": "workbench.policies.dispatch.selection.question",
    "Serve": "workbench.policies.malloc.serve",
    "Stuck": "workbench.policies.dispatch.stuck",
    "Target": "workbench.policies.pool.target.question",
    "Units": "workbench.policies.dispatch.units",
}
"""The name of each base and its module."""
