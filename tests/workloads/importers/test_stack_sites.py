"""Who asked for memory: neither the recorder nor the allocator, but the program, a step of autograd or an operator."""

import pytest

from tests import public_traces
from tests.depth import thinned
from workbench.workloads.importers import read_trace
from workbench.workloads.importers.stack_sites import callers_of, site_of


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
    assert site_of(frames) == site


def test_the_way_there_is_the_program_s_own_code_from_outside_in():
    main = {"name": "main", "filename": "/home/me/train.py", "line": 9}
    assert callers_of([*RECORDER, LIBRARY, OWN, LIBRARY, main]) == ("me/train.py:9 main", "net/model.py:39 forward")


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
