"""What to do after an out-of-memory message, and what to record for a better answer: the lines of a program."""

from __future__ import annotations

from typing import NamedTuple

from workbench.advice.messages.forms import Message
from workbench.advice.messages.verdict import (
    CAN_HELP,
    FULL,
    LARGER,
    LEFT,
    LIKELY_HELPS,
    Verdict,
    size_text,
)

JAX_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION=.95 sets JAX's pool to 95 % of the card; without it, 75 %"
SNAPSHOT = "oom_{os.getpid()}.pickle"


class NextSteps(NamedTuple):
    """What to do, and what to record."""

    actions: tuple[str, ...]
    """Sentences."""
    record: tuple[str, ...]
    """Lines of Python, or of a shell, that record what the message does not tell."""
    then: str
    """What to do with the recording; empty where there is none."""


def next_steps(message: Message, verdict: Verdict) -> NextSteps:
    """Return the next steps after a message with a verdict."""
    actions = (*_graphs(message, verdict), *_actions(message, verdict))
    if verdict.kind == LARGER and message.program == "PyTorch":
        return NextSteps(actions, (), "")
    if verdict.kind == LEFT and message.backend in ("CUDA", "HIP") and not _is_full(message):
        lines = ("import torch", "print(torch.cuda.mem_get_info())  # free and total, just before the line that asks")
        return NextSteps(actions, lines, "")
    return _recording(message, actions)


def _actions(message: Message, verdict: Verdict) -> tuple[str, ...]:
    match verdict.kind:
        case "larger_than_card":
            return _ask_for_less(message)
        case "more_than_card":
            must_go = size_text(verdict.must_go or 0, 1 << 30)
            return (
                f"{must_go} must go for all of it to fit on the card.",
                "In NVIDIA's control panel, prefer no sysmem fallback: the program then fails before it becomes slow.",
            )
        case "memory_left":
            return (_release(message, verdict),) if _is_full(message) else _limit(message)
        case "no_setting_helps":
            return (_release(message, verdict),)
        case "setting_can_help" | "setting_very_likely_helps":
            return _setting(message)
        case "host_memory":
            return ("Load less into the host's memory at once; settings of the card's allocator do not matter.",)
    return ()


def _graphs(message: Message, verdict: Verdict) -> tuple[str, ...]:
    """Return the next steps on private pools, where the verdict names them."""
    if not any(detail.startswith("Private pools") for detail in verdict.details):
        return ()
    return ("Capture fewer CUDA graphs, or let them share one pool (torch.cuda.graph_pool_handle).",)


def _is_full(message: Message) -> bool:
    """Return whether so little was left that the driver can keep it."""
    is_limited = message.allowed is not None
    return not is_limited and (message.free or 0) - (message.requested or 0) < FULL


def _ask_for_less(message: Message) -> tuple[str, ...]:
    if message.need == "program":
        return (
            "Reduce the batch or the sequence, shard the program over more devices, or recompute (jax.checkpoint).",
        )
    at = f" at {message.asked_by}" if message.asked_by else ""
    return (f"Look at the shapes{at}: one tensor is too large, such as attention scores or a wrong batch.",)


def _limit(message: Message) -> tuple[str, ...]:
    if message.allowed is not None:
        return ("Raise torch.cuda.set_per_process_memory_fraction, or the option of your framework that calls it.",)
    page_file = "On Windows, enlarge the page file: the driver commits host memory for each block of the card."
    is_first = message.is_windows or (message.backend == "CUDA" and message.allocated == 0)
    return (
        *([page_file] if is_first else []),
        "Look for the limit: a process fraction, Windows' page file, a MIG slice or quota, or a short-lived process.",
    )


def _release(message: Message, verdict: Verdict) -> str:
    if message.program == "RMM":
        return "Let the card hold less, or spill to the host (rmm.mr.ManagedMemoryResource)."
    if message.backend == "MPS":
        return (
            "Release tensors, or set PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0; without the limit macOS may become unstable."
        )
    if message.backend == "BFC":
        return f"Let less be live, or enlarge the pool. {JAX_FRACTION}."
    before = f" before {message.asked_by}" if message.asked_by else " before that request"
    what = "Release memory" if verdict.must_go is None else "Release that much"
    outside = message.outside or 0
    if outside >= max(verdict.must_go or 0, 1 << 30):
        return f"{what}{before}, ask for less, or end other processes on the card."
    return f"{what}{before}, or ask for less: a smaller batch, shorter sequences, recomputation."


def _setting(message: Message) -> tuple[str, ...]:
    if message.program == "RMM":
        return ("Raise maximum_pool_size if the card has free memory, or use rmm.mr.CudaAsyncMemoryResource().",)
    if message.program == "JAX":
        return (
            f"{JAX_FRACTION}.",
            "Or set XLA_PYTHON_CLIENT_ALLOCATOR=platform, which keeps no pool and is slow.",
        )
    if message.backend == "cudaMallocAsync":
        return ("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True in place of backend:cudaMallocAsync.",)
    if message.backend not in ("CUDA", "HIP"):
        return ("Call empty_cache() between phases of the program; this backend has no such setting.",)
    variable = message.variable or "PYTORCH_CUDA_ALLOC_CONF"
    if message.age == "newest" and not message.is_windows:
        return (
            f"Set {variable}=expandable_segments:True before the program starts, unless it is set.",
            "On Windows, set max_split_size_mb:512 instead: expandable segments do not exist there.",
        )
    if message.age == "newest":
        return (f"Set {variable}=max_split_size_mb:512; on Windows expandable segments do not exist.",)
    old = "" if message.age == "cached" else f" On this version, try {variable}=max_split_size_mb:512."
    return (f"Update to PyTorch 2.1 or newer and set {variable}=expandable_segments:True.{old}",)


def _recording(message: Message, actions: tuple[str, ...]) -> NextSteps:
    if message.program == "RMM":
        lines = ("import rmm", 'rmm.enable_logging(log_file_name="rmm_log.csv")  # before the first allocation')
        return NextSteps(actions, lines, "workbench advise rmm_log.csv")
    if message.program == "JAX":
        lines = (
            "import jax",
            'jax.profiler.save_device_memory_profile("memory.prof")  # just before the line that asks',
        )
        return NextSteps(actions, lines, "")
    if message.backend in ("CUDA", "HIP") and message.age in ("newest", ""):
        if message.program != "PyTorch":
            return NextSteps(actions, (), "")
        return NextSteps(actions, SNAPSHOT_LINES, "workbench advise oom_*.pickle --message FILE")
    if message.backend == "cudaMallocAsync":
        lines = ("import torch", "print(torch.cuda.mem_get_info(), torch.cuda.memory_allocated())")
        return NextSteps(actions, lines, "")
    module = {"XPU": "xpu", "MPS": "mps"}.get(message.backend, "cuda")
    if module == "mps":
        call = "print(torch.mps.driver_allocated_memory(), torch.mps.current_allocated_memory())"
        return NextSteps(actions, ("import torch", call), "")
    if message.backend == "host":
        return NextSteps(actions, (), "")
    lines = ("import torch", f"print(torch.{module}.memory_summary())  # just before the line that asks")
    return NextSteps(actions, lines, "workbench advise SUMMARY.txt")


SNAPSHOT_LINES = (
    "import os, torch",
    "torch.cuda.memory._record_memory_history(max_entries=1_000_000)  # before the model is made",
    "def dump(*_):",
    f'    torch.cuda.memory._dump_snapshot(f"{SNAPSHOT}")',
    "torch._C._cuda_attach_out_of_memory_observer(dump)  # writes a snapshot at each failure",
)
"""What records a snapshot of the failure."""


def steps_of_statistics(verdict: Verdict) -> NextSteps:
    """Return the next steps after statistics alone: record what they do not tell."""
    action = "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True before the program starts, unless it is set."
    actions = (action,) if verdict.kind in (CAN_HELP, LIKELY_HELPS) else ()
    return NextSteps(actions, SNAPSHOT_LINES, "workbench advise oom_*.pickle")
