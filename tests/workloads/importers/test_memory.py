"""Importing a trace takes little memory: the peak of a fresh process, for the largest file and for one far larger."""

import gzip
import json
import subprocess
import sys

import pytest

from tests.public_traces import needs_public_traces, path

PEAK = """
import re, sys
from workbench.workloads.importers import read_trace
kernels = read_trace(sys.argv[1]).kernels.rows
# VmHWM begins anew with the program; ru_maxrss still holds the peak of the process that started it
print(kernels, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


def peak_mib(file):
    done = subprocess.run([sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, check=True)
    kernels, mib = map(int, done.stdout.split())
    return kernels, mib


@pytest.mark.slow
@needs_public_traces
def test_the_largest_public_trace_takes_less_than_200_mib():
    kernels, mib = peak_mib(path("kineto/hta_v100_memory_events.json.gz"))  # 52 MB of JSON
    assert kernels == 19370
    assert mib < 200


@pytest.mark.slow
def test_memory_does_not_grow_with_the_events_that_are_passed_over(tmp_path):
    operation = json.dumps(
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "args": {"x": "y" * 900}}
    )
    kernel = json.dumps({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 2, "args": {"device": 0}})
    with gzip.open(tmp_path / "large.json.gz", "wb", compresslevel=1) as file:
        file.write(b'{"traceEvents": [' + kernel.encode())
        for _ in range(200):
            file.write(f",{operation}".encode() * 1000)
        file.write(b"]}")
    kernels, mib = peak_mib(tmp_path / "large.json.gz")  # 200 MB of JSON
    assert kernels == 1
    assert mib < 200
