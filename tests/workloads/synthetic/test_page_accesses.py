"""Drawn accesses: against drawing them one by one, whatever the blocks; Zipf's law; the pilot's traces; refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles import page_accesses as oracle
from tests.oracles.page_accesses import cores_by_page
from tests.slow import examples
from tests.work_counts import growth
from workbench.machine import TranslationMachine
from workbench.streams import Streams
from workbench.workloads import workload as blocks
from workbench.workloads.generators import generators, regimes
from workbench.workloads.synthetic.page_accesses import (
    PrivateArrays,
    ProducerConsumer,
    SharedSweep,
    StencilHalo,
    ZipfMixture,
)
from workbench.workloads.synthetic.page_kernels import PageKernel
from workbench.workloads.synthetic.page_patterns import Zipf
from workbench.workloads.workload_key import read_workload

MACHINES = st.builds(TranslationMachine, cores=st.integers(1, 5), private_entries=st.integers(1, 8))
PATTERNS = st.sampled_from(["sweep", "scatter", {"zipf": 0.7}])
ALIKE = {
    "count": st.integers(1, 120),
    "gap": st.sampled_from([0, 1, 3.7]),
    "pace": st.sampled_from(["regular", "poisson", {"bursts": 3}]),
    "working_set": st.sampled_from([0.1, 0.5, 1.5, 3]),
    "sharing": st.sampled_from([0, 0.25, 0.6, 1]),
}
OWN = {**ALIKE, "own_working_set": st.sampled_from([0, 2])}
UNSHARED = {name: lever for name, lever in ALIKE.items() if name != "sharing"}
WORKLOADS = st.one_of(
    st.builds(SharedSweep, own=PATTERNS, **OWN),
    st.builds(ZipfMixture, alpha=st.sampled_from([0, 1, 1.7]), **OWN),
    st.builds(PrivateArrays, pattern=PATTERNS, **UNSHARED),
    st.builds(StencilHalo, **ALIKE),
    st.builds(ProducerConsumer, group=st.integers(1, 6), lag=st.integers(0, 30), **ALIKE),
)
SEEDS = st.integers(0, 2**40)


def rows(workload, machine, seed, size=blocks.ROWS):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "ROWS", size)
        given_blocks = list(workload.accesses(machine, Streams(seed)))
    assert all(0 < len(block.core) <= size for block in given_blocks)
    return [row for b in given_blocks for row in zip(b.cycle.tolist(), b.core.tolist(), b.page.tolist())]


@examples(60, 400)
@given(WORKLOADS, MACHINES, SEEDS, st.integers(1, 50))
def test_every_access_is_what_drawing_one_by_one_gives_however_it_is_cut(workload, machine, seed, size):
    slowly = oracle.accesses(workload, machine, seed)
    assert rows(workload, machine, seed) == rows(workload, machine, seed, size) == slowly
    assert all(0 <= page < workload.pages(machine) for _, _, page in slowly)


@examples(8, 100)
@given(WORKLOADS, MACHINES, SEEDS)
def test_a_longer_trace_begins_with_the_shorter_one(workload, machine, seed):
    assert rows(workload.but(count=150), machine, seed)[: workload.count] == rows(workload, machine, seed)


def test_every_generator_has_a_twin():
    drawn = {
        name for name, kind in generators("accesses").items() if kind.built_in and not issubclass(kind, PageKernel)
    }
    assert drawn == set(oracle.PAGES)


def test_columns_have_the_types_that_the_engine_relies_on():
    for workload in (ZipfMixture(count=9, pace="poisson"), StencilHalo(count=9), ProducerConsumer(count=9)):
        (block,) = workload.accesses(TranslationMachine(), Streams(0))
        assert [column.dtype for column in block[:3]] == [np.int64, np.int32, np.int64]
        assert all(column.flags.c_contiguous and column.flags.writeable for column in block[:3])
        assert block.unmap is None


@pytest.mark.parametrize("alpha", [0, 0.8, 1, 2.5])
def test_zipf_draws_pages_as_often_as_its_law_says(alpha):
    ranks = (np.arange(200_000) + 0.5) / 200_000
    drawn = np.bincount(Zipf(alpha=alpha).reader(50, 1)(np.zeros(0, np.int32), ranks), minlength=50)
    weights = np.array([k**-alpha for k in range(1, 51)])
    assert np.abs(drawn - 200_000 * weights / weights.sum()).max() < 1.5


def test_python_does_nothing_for_a_single_access():
    def drawn(count):
        workload = ZipfMixture(count=count, working_set=3125)
        assert sum(len(block.core) for block in workload.accesses(TranslationMachine(), Streams(1))) == count

    assert growth(drawn, 10_000) < 1.1


def lru_misses(workload, machine, newest):
    held = [{} for _ in range(machine.cores)]
    missed = 0
    for _, core, page in rows(workload, machine, 0):
        mine = held[core]
        missed += page not in mine
        if page not in mine and len(mine) == machine.private_entries:
            del mine[list(mine)[-1 if newest else 0]]
        mine[page] = mine.pop(page, None)
    return missed / workload.count


PILOT = [  # spec 4, section 6: shared accesses per access under LRU and MRU, without a directory
    ("pilot_cyclic_shared", 1.000, 0.344, 0.0006),
    ("pilot_cyclic_private", 1.000, 0.344, 0.0006),
    ("pilot_half_shared", 0.734, 0.603, 0.06),
    ("pilot_zipf", 0.119, 0.693, 0.06),
]


@pytest.mark.parametrize(("name", "lru", "mru", "within"), PILOT)
def test_the_pilots_traces_miss_as_often_as_the_pilots_did(name, lru, mru, within):
    machine = TranslationMachine.read(regimes("accesses")[name].machine)
    workload = regimes("accesses")[name].workload
    assert workload.count == 48_000
    assert lru_misses(workload, machine, newest=False) == pytest.approx(lru, abs=within)
    assert lru_misses(workload, machine, newest=True) == pytest.approx(mru, abs=within)


@pytest.mark.parametrize("name", list(regimes("accesses")))
def test_a_regime_is_read_and_fits_its_machine(name):
    regime = regimes("accesses")[name]
    workload, machine = read_workload(name, wants="accesses"), TranslationMachine.read(regime.machine)
    assert workload == regime.workload
    first = next(workload.accesses(machine, Streams(3)))
    assert int(first.page.max()) < machine.pages
    assert int(first.core.max()) < machine.cores
    assert regime.source


def test_sharing_is_what_the_lever_says():
    machine = TranslationMachine(cores=4, private_entries=8)
    for share in (0, 0.25, 1):
        pages = cores_by_page(ZipfMixture(count=40_000, sharing=share).accesses(machine, Streams(2)))
        shared = sum(len(cores) for cores in pages.values() if len(set(cores)) > 1)
        assert shared / 40_000 == pytest.approx(share, abs=0.01)


def test_pages_beyond_the_address_width_are_refused():
    message = refusal(SharedSweep(working_set=1000).accesses, TranslationMachine(address_bits=20), Streams(0))
    assert message.startswith("shared_sweep.working_set gives 544000 pages where the machine's addresses reach 256")
