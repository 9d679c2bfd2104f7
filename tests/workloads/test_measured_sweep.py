"""Measured kernel times: an excerpt of MGPUSim's MI300X sweep, and rows that are wrong."""

import hashlib

import numpy as np
import pytest

from tests.public_recordings import FOLDER
from workbench.errors import InputError
from workbench.machine import preset
from workbench.workloads.catalogue import catalogue
from workbench.workloads.measured_sweep import measured_kernels

EXCERPT = FOLDER / "mgpusim_mi300x_binomial_options.csv"
HEADER = "benchmark,scaling_param_name,scaling_param_value,non_scaling_json,kernel_ms_mean,n_reps\n"


def test_the_excerpt_is_the_one_that_the_catalogue_lists():
    entry = catalogue()["mgpusim_mi300x_binomial_options"]
    assert hashlib.sha256(EXCERPT.read_bytes()).hexdigest() == entry.sha256
    assert EXCERPT.stat().st_size == entry.bytes and entry.change == "cut"


def test_kernels_are_told_apart_by_what_is_not_swept():
    kernels = measured_kernels(EXCERPT, "tango_binomial_options")
    assert [(it.fixed["steps"], len(it.size)) for it in kernels] == [(1024, 33), (128, 33), (2048, 32)]
    assert {(it.kernel, it.size_name) for it in kernels} == {("tango_binomial_options", "options")}
    assert all((it.repetitions == 3).all() and (np.diff(it.size) > 0).all() for it in kernels)
    assert kernels[2].milliseconds[:2].tolist() == [2.847259, 2.849987]


def test_equal_groups_take_as_many_rounds_as_the_card_needs_for_them():
    """One option is one workgroup; an MI300X holds 304 at a time, so that time steps with ceil(n / 304)."""
    sweep = measured_kernels(EXCERPT)[2]
    full = sweep.size >= 256
    modules = preset("mi300x").machine().compute_units
    predicted = 3.027 * np.ceil(sweep.size[full] / modules)
    error = np.abs(predicted / sweep.milliseconds[full] - 1)
    assert modules == 304 and full.sum() == 24
    assert error.mean() == pytest.approx(0.0058, abs=0.0001)
    wrong = np.abs(3.027 * np.ceil(sweep.size[full] / 256) / sweep.milliseconds[full] - 1)
    assert wrong.mean() > 0.1, "another number of units does not fit"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("fill,size,x,{},1,3\n", "line 2: scaling_param_value must be a number. Got 'x'."),
        ("fill,size,4,{},-1,3\n", "line 2: must have a benchmark, a size, a time of at least 0"),
        ("fill,size,4,{},1,0\n", "n_reps of at least 1."),
        ("fill,size,,{},1,3\n", "must have a benchmark, a size"),
        ("fill,size,4,[1],1,3\n", "non_scaling_json must be a JSON object. Got '[1]'."),
        ("fill,size,4," + "[" * 900 + ",1,3\n", "non_scaling_json must be a JSON object."),
        ("fill,size,4,{},1\n", "has 5 fields where the header has 6"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, rows, says):
    place = tmp_path / "sweep.csv"
    place.write_text(HEADER + rows)
    with pytest.raises(InputError) as refused:
        measured_kernels(place)
    assert says in str(refused.value)


def test_a_kernel_that_is_not_there_and_a_file_that_is_no_sweep_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"unknown kernel 'tango_binomial'.*Did you mean tango_binomial_options"):
        measured_kernels(EXCERPT, "tango_binomial")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="has no header of a measured sweep"):
        measured_kernels(other)
