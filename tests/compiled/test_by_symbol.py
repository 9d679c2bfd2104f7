"""What is never copied is called by its symbol: callers have no code of it, and a process that loads them loads it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from tests.slow import compiled_only
from workbench.compiled import kernel, noinline
from workbench.compiled.kernel import Needed, needed_by

LOADS = """
from workbench.compiled import bound
from workbench.structures.size_index import SIZE, insert, new_size_index, smallest_at_least
index = new_size_index(1, 8)
index.nodes[SIZE] = 40
bound(insert, index)(0, 0)
print(smallest_at_least(*index, 0, 30), sum(insert.stats.cache_misses.values()))
"""


@noinline
def deepest(numbers, place):
    if place < 0:
        raise ValueError("no such place")
    return numbers[place] + 1


@noinline
def deeper(numbers, place):
    return deepest(numbers, place) * 2


@kernel
def near(numbers, place):
    return deeper(numbers, place) + 3


@noinline
def top(numbers, place):
    return near(numbers, place) + deepest(numbers, place)


def test_results_come_through_every_level():
    assert top(np.array([5, 7]), 1) == (7 + 1) * 2 + 3 + 8


@compiled_only
def test_a_caller_has_no_code_of_what_it_calls_by_symbol():
    top(np.array([5, 7]), 1)
    (result,) = top.overloads.values()
    needed = {one.name for one in needed_by(result.library)}
    assert needed == {"deepest", "deeper"}
    defined = {function.name for function in result.library._final_module.functions if not function.is_declaration}
    assert not [name for name in defined if "deep" in name]
    assert {one.name for one in result.reload_init} == needed


@compiled_only
def test_a_symbol_of_another_process_leads_to_the_function_too():
    top(np.array([5, 7]), 1)
    ((arguments, result),) = deepest.overloads.items()
    Needed("as_another_process_named_it", __name__, "deepest", arguments)()
    pointer = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    assert llvm.address_of_symbol("as_another_process_named_it") == pointer


@compiled_only
@pytest.mark.slow
def test_what_is_kept_on_disk_runs_in_a_process_that_has_compiled_nothing(tmp_path):
    """The second process loads the caller alone, and with it all that it calls."""
    here = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    runs = [
        subprocess.run([sys.executable, "-c", LOADS], env=here, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs == ["0 1\n", "0 0\n"]
