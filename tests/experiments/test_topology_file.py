"""Sweeps that name a topology: where it is looked for, that its content makes the run, and that bundles keep it."""

from pathlib import Path

import pytest
import yaml

from tests.machine.test_topologies import XML
from tests.public_traces import NAMED, needs_public_traces
from workbench.errors import InputError
from workbench.experiments.plan import make_plan
from workbench.experiments.sweep import read_sweep, with_files

SAID = {"engine": "pool", "workload": {"synthetic": "full_card", "size": 1_000_000_000}}


def planned(folder, machine):
    (folder / "sweep.yaml").write_text(yaml.safe_dump({**SAID, "machine": machine}))
    return make_plan(read_sweep(folder / "sweep.yaml"))


def test_a_file_is_looked_for_beside_the_sweep_and_its_content_makes_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "board.xml").write_text(XML)
    (tmp_path / "moved.xml").write_text(XML)
    (tmp_path / "wider.xml").write_text(XML.replace('count="2"', 'count="3"'))
    varied = {"topology": {"vary": ["board.xml", "moved.xml", "wider.xml"]}, "card_bytes": 1 << 34}
    plan = planned(tmp_path, varied)
    assert [len(point.setup.machine.cards) for point in plan.points] == [5, 5]
    assert [point.coordinates["machine.topology"] for point in plan.points] == ["board.xml", "wider.xml"]


@needs_public_traces
def test_a_public_topology_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_TRACES", NAMED)
    (point,) = planned(tmp_path, {"topology": "rccl_topo_8p_940"}).points
    assert sum(link.kind == "xgmi" for link in point.setup.machine.links) == 28


def test_what_is_neither_is_said_with_its_place(tmp_path):
    with pytest.raises(InputError, match=r"sweep.yaml: machine.topology: absent.xml: there is no such file\.$"):
        planned(tmp_path, {"topology": "absent.xml"})


def test_a_bundle_takes_the_file_along(tmp_path):
    (tmp_path / "board.xml").write_text(XML)
    config = {
        "machine": {"topology": {"vary": ["board.xml"]}, "card_bytes": 5},
        "workload": {"trace": "no_file_at_all"},
    }
    renamed = with_files(config, tmp_path, lambda path: f"inputs/{path.name}")
    assert renamed == {**config, "machine": {"topology": {"vary": ["inputs/board.xml"]}, "card_bytes": 5}}
    assert Path("inputs/board.xml").exists() is False
