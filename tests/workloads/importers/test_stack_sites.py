"""Who asked for memory: neither the recorder nor the allocator, but the program, a step of autograd or an operator."""

import pytest

from tests import public_traces
from tests.slow import thinned
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.stack_sites import Sites


def named(frames):
    """The place that a stack leads to, its innermost Python frames, and those of the program itself."""
    sites = Sites()
    if sites.number(frames) < 0:
        return "", (), ()
    return sites.names[0], sites.stacks[0], sites.callers[0]


def cpp(name, filename="??"):
    return {"name": name, "filename": filename, "line": 0}


RECORDER = [
    cpp("torch::unwind::unwind()"),
    cpp("torch::CapturedTraceback::gather(bool, bool, bool)"),
    cpp("torch::cuda::(anonymous namespace)::gather_with_cpp()", "memory_snapshot.cpp"),
]
ALLOCATOR = [
    cpp("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(...)", "CUDACachingAllocator.cpp"),
    cpp("c10::StorageImpl::StorageImpl(c10::StorageImpl::use_byte_size_t, c10::SymInt const&)", ""),
    cpp("at::detail::empty_generic(c10::ArrayRef<long>, c10::Allocator*)"),
    cpp("at::TensorBase at::detail::_empty_generic<long>(c10::ArrayRef<long>)", "EmptyTensor.cpp"),
]
OPERATORS = [
    cpp("at::_ops::empty_strided::redispatch(c10::DispatchKeySet)"),
    cpp("at::(anonymous namespace)::wrapper_CUDA_mul(at::Tensor const&)", "build/aten/RegisterCUDA_0.cpp"),
    cpp("at::_ops::mul_Tensor::call(at::Tensor const&, at::Tensor const&)"),
]
STEP = [
    cpp("torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)", "Functions.cpp"),
    cpp("torch::autograd::Engine::thread_main(std::shared_ptr<GraphTask> const&)"),
    cpp("execute_native_thread_routine", "thread.cc"),
]
OUTSIDE = [
    cpp("_PyEval_EvalFrameDefault", "Python/bytecodes.c"),
    cpp("__libc_start_main"),
    cpp("_start"),
]
LIBRARY = {"name": "_call_impl", "filename": "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", "line": 1}
OWN = {"name": "forward", "filename": "C:\\me\\net\\model.py", "line": 39}


@pytest.mark.parametrize(
    ("frames", "site"),
    [
        ([*RECORDER, *ALLOCATOR, *OPERATORS, OWN, LIBRARY, *OUTSIDE], "net/model.py:39 forward"),
        ([*RECORDER, *ALLOCATOR, *OPERATORS, LIBRARY, *OUTSIDE], "modules/module.py:1 _call_impl"),
        ([*RECORDER, *ALLOCATOR, *OPERATORS, *STEP], "MulBackward0"),
        ([*RECORDER, *ALLOCATOR, *OPERATORS, *OUTSIDE], "at::_ops::mul_Tensor"),
        ([*RECORDER, *ALLOCATOR, cpp("my_kernel(float*)", "ext/my_kernel.cu")], "ext/my_kernel.cu:0 my_kernel(float*)"),
        ([*RECORDER, *ALLOCATOR, *OUTSIDE], ""),
        ([{"name": "on_start", "filename": "/home/me/RegisterHooks.py", "line": 4}], "me/RegisterHooks.py:4 on_start"),
    ],
)
def test_who_asked(frames, site):
    """`gather_with_cpp`, which records, was named as the holder of 16 to 83 % of the peak in 11 of 31 public files."""
    assert named(frames)[0] == site


INNER, OUTER = ({**OWN, "line": line} for line in (11, 99))
FIRST, LAST = ({**LIBRARY, "line": line} for line in (21, 98))
ADD = cpp("at::_ops::add_Tensor::call(at::Tensor const&, at::Tensor const&)")
ADD_BACKWARD = cpp("torch::autograd::generated::AddBackward0::apply(std::vector<at::Tensor>&&)", "Functions.cpp")
TWO_NAMED = [cpp("my_kernel(float*)", "ext/my_kernel.cu"), cpp("launch(int)", "ext/launch.cu")]


@pytest.mark.parametrize(
    ("frames", "site"),
    [
        ([FIRST, INNER, OUTER, LAST], "net/model.py:11 forward"),
        ([*OPERATORS, FIRST, LAST], "modules/module.py:21 _call_impl"),
        ([*OPERATORS, *STEP, ADD_BACKWARD, ADD], "MulBackward0"),
        ([*OPERATORS, ADD], "at::_ops::add_Tensor"),
        ([ADD, *OPERATORS], "at::_ops::mul_Tensor"),
        (TWO_NAMED, "ext/my_kernel.cu:0 my_kernel(float*)"),
    ],
)
def test_of_frames_of_one_kind_the_innermost_asked_and_of_operators_the_outermost(frames, site):
    assert named([*RECORDER, *ALLOCATOR, *frames, *OUTSIDE])[0] == site


@pytest.mark.parametrize(
    ("frames", "lines"),
    [
        ([*[LIBRARY] * 5, INNER, OUTER], [1, 1, 1, 1, 1, 11]),
        ([*[LIBRARY] * 6, INNER, OUTER], [1, 1, 1, 1, 1, 11]),
        ([INNER, *[LIBRARY] * 6, OUTER], [11, 1, 1, 1, 1, 1]),
        ([*[LIBRARY] * 4, INNER, OUTER, LAST], [1, 1, 1, 1, 11, 99]),
        ([*[LIBRARY] * 7], [1, 1, 1, 1, 1]),
    ],
)
def test_of_a_stack_six_frames_are_kept_and_the_last_place_is_the_program_s_own(frames, lines):
    kept = named([*RECORDER, *ALLOCATOR, *OPERATORS, *frames, *OUTSIDE])[1]
    assert [int(name.partition(":")[2].split()[0]) for name in kept] == lines


def test_of_many_callers_the_forty_outermost_are_kept():
    callers = named([{**OWN, "line": line} for line in range(50)])[2]
    assert [int(name.partition(":")[2].split()[0]) for name in callers] == [*range(49, 9, -1)]


def test_the_way_there_is_the_program_s_own_code_from_outside_in():
    main = {"name": "main", "filename": "/home/me/train.py", "line": 9}
    assert named([*RECORDER, LIBRARY, OWN, LIBRARY, main])[2] == ("me/train.py:9 main", "net/model.py:39 forward")


@pytest.mark.needs("public traces")
@pytest.mark.parametrize("place", thinned(public_traces.recordings(), 9), ids=lambda place: place.name)
def test_no_public_recording_names_what_pytorch_s_viewer_leaves_out(place):
    sites = {site for log in read_trace(place).logs for site in log.sites}
    hidden = (
        "unwind",
        "gather",
        "CachingAllocator",
        "at::detail",
        "PyEval_",
        "PyObject_",
        "_libc_start",
        "StorageImpl",
    )
    assert sites and not [site for site in sites if any(word in site for word in hidden)]
