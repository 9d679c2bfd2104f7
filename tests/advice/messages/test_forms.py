"""Each form of an out-of-memory message gives its numbers; a log gives each rank's message and the line that asked."""

from __future__ import annotations

import pytest

from workbench.advice.messages.forms import Message, messages_in

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate {asked} (GPU {gpu}; 8.00 GiB total capacity; 5.00 GiB already "
    "allocated; 512.00 MiB free; {end})"
)
NEW = (
    "torch.OutOfMemoryError: {card} out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total {word} of 8.00 GiB of "
    "which 0 bytes is free. {extra}Of the allocated memory 6.00 GiB is allocated by PyTorch, {pools}and 512.00 KiB is "
    "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_{variable}_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)


def new(card="CUDA", word="capacity", extra="", pools="", variable="CUDA"):
    return NEW.format(card=card, word=word, extra=extra, pools=pools, variable=variable)


def only(text: str) -> Message:
    messages, cut = messages_in(text)
    assert len(messages) == 1 and not cut, (messages, cut)
    return messages[0]


@pytest.mark.parametrize(
    ("end", "unallocated", "age"),
    [("256.00 MiB cached", 256 * MIB, "cached"), ("7.00 GiB reserved in total by PyTorch", 2 * GIB, "reserved")],
)
def test_the_forms_until_2_0_differ_in_what_the_last_number_is(end, unallocated, age):
    message = only(OLD.format(asked="1.00 GiB", gpu=2, end=end))
    assert (message.requested, message.capacity, message.free, message.allocated) == (GIB, 8 * GIB, 512 * MIB, 5 * GIB)
    assert (message.unallocated, message.age, message.device) == (unallocated, age, 2)


@pytest.mark.parametrize("word", ["capacty", "capacity"])
@pytest.mark.parametrize(("card", "variable"), [("CUDA", "CUDA"), ("HIP", "HIP")])
def test_the_form_since_2_1_is_read_with_its_misspelling_and_of_amd(word, card, variable):
    message = only(new(card, word, variable=variable))
    assert (message.requested, message.capacity, message.free) == (2 * GIB, 8 * GIB, 0)
    assert (message.allocated, message.unallocated, message.device) == (6 * GIB, 512 * KIB, 3)
    assert message.backend == card and message.variable == f"PYTORCH_{variable}_ALLOC_CONF" and message.age == "newest"


def test_private_pools_a_fraction_and_other_processes_are_read():
    extra = (
        "Process 12 has 1.00 GiB memory in use. Including non-PyTorch memory, this process has 6.50 GiB memory in use. "
        "7.25 GiB allowed; "
    )
    message = only(new(extra=extra, pools="with 4.00 GiB allocated in private pools (e.g., CUDA Graphs), "))
    assert (message.others, message.allowed, message.private) == (GIB, round(7.25 * GIB), 4 * GIB)
    assert message.outside == 8 * GIB - 6 * GIB - 512 * KIB, "what is neither free nor this allocator's"


def test_in_a_container_the_process_that_can_hold_it_is_this_one():
    two = "Process 7 has 6.50 GiB memory in use. Process 8 has 1.25 GiB memory in use. "
    assert only(new(extra=two)).others == round(1.25 * GIB)


def test_a_count_below_zero_that_the_driver_did_not_tell_is_unknown():
    extra = "Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. "
    assert only(new(extra=extra)).others is None


def test_a_message_broken_into_lines_quoted_and_printed_twice_is_one():
    text = new("HIP").replace(". Tried", ".\n> Tried").replace("which ", "which\n> ")
    assert only(f"> {text}\n{new('HIP')}").backend == "HIP"


def test_a_failure_printed_with_its_traceback_and_once_more_without_is_one():
    traceback = 'Traceback (most recent call last):\n  File "a.py", line {line}, in f\n{message}\n'
    first, second = (traceback.format(line=line, message=new()) for line in (3, 9))
    again = f"{new()}\n"
    for text in (first, first + "\n" * 50 + again, again + "\n" * 450 + first):
        assert [message.asked_by for message in messages_in(text)[0]] == ["a.py:3 f"]
    both = messages_in(again + "\n" * 450 + first + second + first)[0]
    assert [message.asked_by for message in both] == ["a.py:3 f", "a.py:9 f"]


@pytest.mark.parametrize("size", ["9" * 400 + " GiB", "1," * 30_000, "9" * 30_000])
def test_a_size_of_too_many_digits_is_no_size(size):
    messages, cut = messages_in(f"CUDA out of memory. Tried to allocate {size}")
    assert not messages and len(cut) == 1


OTHERS = [
    (
        "MPS backend out of memory (MPS allocated: 17.00 GB, other allocations: 512.00 MB, max allowed: 18.00 GB). "
        "Tried to allocate 768.00 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable",
        {"backend": "MPS", "requested": 768 * MIB, "capacity": 18 * GIB, "free": 512 * MIB},
    ),
    (
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 192.00 MiB. GPU 1 has a total capacity of 32.00 "
        "GiB of which 13.00 GiB is free. Of the allocated memory 16.00 GiB is allocated by PyTorch, and 1.00 GiB is "
        "reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.",
        {"backend": "XPU", "requested": 192 * MIB, "free": 13 * GIB, "unallocated": GIB, "device": 1},
    ),
    (
        "RuntimeError: DPCPP out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.00 GiB total capacity; 12.50 GiB "
        "already allocated; 14.00 GiB reserved in total by PyTorch)",
        {"backend": "DPCPP", "free": None, "unallocated": round(1.5 * GIB)},
    ),
    (
        "torch.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\n"
        "Currently allocated     : 9.50 GiB\nRequested               : 640.00 MiB\n"
        "Device limit            : 11.50 GiB\nFree (according to CUDA): 8.00 MiB\n"
        "PyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB",
        {
            "backend": "cudaMallocAsync",
            "requested": 640 * MIB,
            "capacity": round(11.5 * GIB),
            "free": 8 * MIB,
            "allowed": None,
        },
    ),
    (
        "W external/tsl/tsl/framework/bfc_allocator.cc:482] Allocator (GPU_0_bfc) ran out of memory trying to allocate "
        "1.97GiB (rounded to 2110783744)requested by op\nW 3] Stats:\nLimit:   6000000000\nInUse:   5000000000\n"
        "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2110783616 bytes.",
        {"program": "JAX", "requested": 2110783744, "capacity": 6000000000, "unallocated": 1000000000},
    ),
    (
        "RESOURCE_EXHAUSTED: Failed to allocate request for 154.06GiB (165425291480B) on device ordinal 2",
        {"program": "JAX", "requested": 165425291480, "device": 2},
    ),
    (
        "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
        "Used 20.00G of 15.50G hbm. Exceeded hbm capacity by 4.50G.",
        {"backend": "TPU", "need": "program", "requested": 20 * GIB, "capacity": round(15.5 * GIB)},
    ),
    (
        "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 128.00M. That was not possible. "
        "There are 80.00M free.; (0x0x0_HBM0)",
        {"backend": "TPU", "requested": 128 * MIB, "free": 80 * MIB},
    ),
    (
        "MemoryError: std::bad_alloc: out_of_memory: RMM failure at:pool_impl.cpp:73: Maximum pool size "
        "exceeded (failed to allocate 10.500000 GiB): Not enough room to grow, current/max/try size = 70.000000 GiB, "
        "78.000000 GiB, 10.500000 GiB",
        {"program": "RMM", "requested": round(10.5 * GIB), "capacity": 78 * GIB, "free": 8 * GIB},
    ),
    (
        "MemoryError: std::bad_alloc: RMM failure at:pool_memory_resource.hpp:179: Maximum pool size exceeded",
        {"program": "RMM", "requested": None, "place": "RMM's pool"},
    ),
    (
        "MemoryError: std::bad_alloc: out_of_memory: CUDA error (failed to allocate 1073741824 bytes) at: "
        "cuda_memory_resource.hpp:70: cudaErrorMemoryAllocation out of memory",
        {"program": "RMM", "requested": GIB, "capacity": None},
    ),
    ("RuntimeError: CUDA error: out of memory", {"requested": None, "capacity": None, "program": "PyTorch"}),
    (
        "DefaultCPUAllocator: not enough memory: you tried to allocate 1073741824 bytes.",
        {"backend": "host", "requested": GIB},
    ),
    ("terminate called after throwing an instance of 'std::bad_alloc'", {"backend": "host"}),
    ("CUDA out of memory. Tried to allocate more than 1EB memory.", {"requested": 1 << 60}),
]


@pytest.mark.parametrize(("text", "numbers"), OTHERS)
def test_other_allocators_are_read(text, numbers):
    message = only(text)
    assert {name: getattr(message, name) for name in numbers} == numbers


def test_a_warning_of_tensorflow_that_is_no_failure_is_none():
    text = "Allocator (GPU_0_bfc) ran out of memory trying to allocate 1GiB. The caller says that this is not a failure"
    assert messages_in(text) == ([], [])


@pytest.mark.parametrize(
    "text", [new()[:150], "CUDA out of memory. Tried to allocate 2.00 GiB", "CUDA out of memory. Tried to allocate "]
)
def test_a_message_that_is_cut_off_is_said_to_be(text):
    messages, cut = messages_in(text)
    assert not messages and len(cut) == 1 and cut[0].startswith("is cut off after 'CUDA out of memory. Tried")


TWO_RANKS = """\
[rank1]: Traceback (most recent call last):
[rank0]: Traceback (most recent call last):
[rank1]:   File "/home/me/net/train.py", line 88, in step
[rank0]:   File "/home/me/net/train.py", line 77, in step
[rank1]:     loss.backward()
[rank1]:   File "/usr/lib/python3.10/site-packages/torch/_tensor.py", line 9, in backward
[rank1]: {first}
[rank0]: {second}
"""


def test_each_rank_of_a_log_has_its_message_and_the_line_of_its_own_traceback():
    text = TWO_RANKS.format(first=OLD.format(asked="1.00 GiB", gpu=1, end="7.00 GiB reserved in total"), second=new())
    first, second = messages_in(f"epoch 1\n{text}")[0]
    assert (first.label, first.device, first.asked_by) == ("rank 1", 1, "net/train.py:88 step")
    assert (second.label, second.device, second.asked_by) == ("rank 0", 3, "net/train.py:77 step")


TRACEBACKS = {
    "python": [
        "Traceback (most recent call last):",
        '  File "C:\\\\me\\\\app.py", line 5, in <module>',
        "    x.cuda()",
    ],
    "ipython": [
        "OutOfMemoryError                          Traceback (most recent call last)",
        "Cell In[3], line 4",
        "----> 4 train()",
        "File /opt/site-packages/torch/nn/modules/module.py:1501, in Module._call_impl(self, *args)",
    ],
    "old ipython": [
        "RuntimeError                              Traceback (most recent call last)",
        "<ipython-input-3-628af068fea6> in <module>",
        "----> 9 train()",
        "/opt/dist-packages/torch/optim/adam.py in _init_group(self)",
        "--> 174 state = zeros()",
    ],
    "packages": [
        "Traceback (most recent call last):",
        '  File "/x/site-packages/vllm/model.py", line 7, in run',
        '  File "/x/site-packages/torch/nn/functional.py", line 9, in linear',
    ],
    "vllm": [
        "(Worker rank=0 pid=9) ERROR 04-01 23:46:56 [core.py:160] Traceback (most recent call last):",
        '(Worker rank=0 pid=9) ERROR 04-01 23:46:56 [core.py:160]   File "/app/serve/run.py", line 3, in go',
        "(Worker rank=0 pid=9) ERROR 04-01 23:46:56 [core.py:160] {message}",
    ],
}


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("python", "me/app.py:5"),
        ("ipython", "Cell In[3]:4"),
        ("old ipython", "<ipython-input-3-628af068fea6>:9"),
        ("packages", "vllm/model.py:7 run"),
        ("vllm", "serve/run.py:3 go"),
    ],
)
def test_the_line_that_asked_is_the_last_of_the_users_code(kind, place):
    lines = TRACEBACKS[kind] if kind == "vllm" else [*TRACEBACKS[kind], "{message}"]
    message = only("\n".join(lines).replace("{message}", new()).replace("\\\\", "\\"))
    assert message.asked_by == place
    assert message.is_windows == (kind == "python")
