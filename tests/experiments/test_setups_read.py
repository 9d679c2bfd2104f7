"""A sweep is read without its workloads being drawn: what is wrong between levers, workload and machine is seen."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.experiments.plan import make_plan, setups_read
from workbench.experiments.sweep import read_sweep
from workbench.workloads.synthetic.memory_jobs import FullCard


def sweep(**workload):
    config = {"engine": "pool", "machine": "dgx_1v", "workload": {"synthetic": "full_card", **workload}, "seeds": 1}
    return read_sweep({**config, "policy": {"target": {"vary": ["local_only", "max_bandwidth"]}}})


def test_nothing_is_drawn(monkeypatch):
    monkeypatch.setattr(FullCard, "pool_requests", None)
    assert len(setups_read(sweep())) == 2


def test_it_reads_what_a_plan_holds():
    assert setups_read(sweep()) == [point.setup for point in make_plan(sweep()).points]


def test_what_does_not_fit_the_machine_is_refused():
    with pytest.raises(InputError, match=r"workload\.size"):
        setups_read(sweep(size=1 << 50))
