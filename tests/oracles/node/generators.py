"""Workloads of the families of R8, as lists of applications; each is a plain function of its levers (spec 6, R8)."""

from __future__ import annotations

from typing import Any

from tests.oracles.node.description import MIB

Steps = list[dict[str, Any]]


def _kernel(groups: int, compute: Any, *touches: tuple[str, str], **others: Any) -> dict[str, Any]:
    """Return a step with one phase; a touch is (tensor, pattern)."""
    rows = [{"tensor": tensor, "pattern": pattern} for tensor, pattern in touches]
    phase = {
        "compute": compute,
        "touches": rows,
        "instructions": others.pop("instructions", {"load": 64, "matrix": 64}),
    }
    mallocs = others.pop("mallocs", ())
    return {"kernel": {"groups": groups, "phases": [phase | {"mallocs": mallocs}]} | others}


def _allocate(name: str, size: int) -> dict[str, Any]:
    return {"allocate": name, "bytes": size}


def training_step(
    layers: int = 3, groups: int = 8, weight_bytes: int = 4 * MIB, activation_bytes: int = 6 * MIB, compute: Any = 200
) -> list[dict[str, Any]]:
    """Return one application: forward keeps activations, backward frees them for gradients, the optimiser ends it."""
    steps: Steps = [_allocate(f"w{k}", weight_bytes) for k in range(layers)]
    steps.append(_allocate("a0", activation_bytes))
    for k in range(layers):
        steps.append(_allocate(f"a{k + 1}", activation_bytes))
        steps.append(_kernel(groups, compute, (f"a{k}", "slice"), (f"w{k}", "shared"), (f"a{k + 1}", "slice")))
    for k in reversed(range(layers)):
        steps.append(_allocate(f"g{k}", weight_bytes))
        steps.append(_kernel(groups, compute, (f"a{k + 1}", "slice"), (f"w{k}", "shared"), (f"g{k}", "slice")))
        steps.append({"free": f"a{k + 1}"})
    for k in range(layers):
        steps += [_kernel(groups, compute, (f"w{k}", "slice"), (f"g{k}", "slice")), {"free": f"g{k}"}]
    return [{"streams": [steps]}]


def prefill(
    requests: int = 2, groups: int = 8, model_bytes: int = 8 * MIB, cache_bytes: int = 4 * MIB, compute: Any = 400
) -> list[dict[str, Any]]:
    """Return one application: each request's prompt fills its own key-value block, all read the model."""
    steps: Steps = [_allocate("model", model_bytes)]
    for k in range(requests):
        steps += [_allocate(f"kv{k}", cache_bytes), _kernel(groups, compute, ("model", "shared"), (f"kv{k}", "slice"))]
    return [{"streams": [steps]}]


def decode(
    requests: int = 3,
    tokens: int = 4,
    groups: int = 4,
    model_bytes: int = 8 * MIB,
    block_bytes: int = 2 * MIB,
    compute: Any = 60,
) -> list[dict[str, Any]]:
    """Return one application: a stream a request; each second token takes a key-value block; all go at the end."""
    model = [_allocate("model", model_bytes)]
    streams = [[*(model if r == 0 else []), *_tokens(r, tokens, groups, block_bytes, compute)] for r in range(requests)]
    return [{"streams": streams}]


def _tokens(request: int, tokens: int, groups: int, block_bytes: int, compute: Any) -> Steps:
    steps: Steps = []
    blocks: list[str] = []
    for token in range(tokens):
        if token % 2 == 0:
            blocks.append(f"kv{request}.{len(blocks)}")
            steps.append(_allocate(blocks[-1], block_bytes))
        steps.append(_kernel(groups, compute, ("model", "shared"), *((name, "gather") for name in blocks)))
    return [*steps, *({"free": name} for name in blocks)]


def stencil(sweeps: int = 3, groups: int = 8, grid_bytes: int = 24 * MIB, compute: Any = 150) -> list[dict[str, Any]]:
    """Return one application: two grids that take turns, each sweep reads one with halo and writes the other."""
    steps: Steps = [_allocate("g0", grid_bytes), _allocate("g1", grid_bytes)]
    for k in range(sweeps):
        steps.append(_kernel(groups, compute, (f"g{k % 2}", "halo"), (f"g{1 - k % 2}", "slice")))
    return [{"streams": [steps]}]


def graph_gather(
    rounds: int = 3, groups: int = 8, graph_bytes: int = 32 * MIB, compute: Any = 100
) -> list[dict[str, Any]]:
    """Return one application: groups read their slice of the edges and gather over the vertices."""
    steps: Steps = [_allocate("edges", graph_bytes), _allocate("vertices", graph_bytes)]
    steps += [_kernel(groups, compute, ("edges", "slice"), ("vertices", "gather")) for _ in range(rounds)]
    return [{"streams": [steps]}]


def small_kernels(
    applications: int = 3, kernels: int = 6, bytes_a_lane: int = 48, compute: Any = 30
) -> list[dict[str, Any]]:
    """Return applications of many kernels of one or two groups, that allocate on the device."""
    lanes = (bytes_a_lane,) * 8
    steps = [_kernel(1 + k % 2, compute, ("a", "slice"), waves=2, mallocs=lanes) for k in range(kernels)]
    return [{"arrival": 10 * k, "streams": [[_allocate("a", MIB), *steps, {"free": "a"}]]} for k in range(applications)]


FAMILIES = {
    "training_step": training_step,
    "prefill": prefill,
    "decode": decode,
    "stencil": stencil,
    "graph_gather": graph_gather,
    "small_kernels": small_kernels,
}
