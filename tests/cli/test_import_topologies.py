"""`workbench trace import` of topologies and of memory: what it prints, and the pool file that it writes."""

import json

from tests.machine.test_topologies import XML
from tests.workloads.importers.test_memory_formats import RMM
from workbench.cli import main


def test_a_topology_is_described(tmp_path, capsys):
    (tmp_path / "board.xml").write_text(XML)
    assert main(["trace", "import", str(tmp_path / "board.xml"), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["format"], output["cards"], output["links"]) == ("nccl_topology_xml", 3, 2)
    assert len(output["sha256"]) == 64


def test_xml_that_expands_is_refused_in_one_sentence(tmp_path, capsys):
    (tmp_path / "board.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    assert main(["trace", "import", str(tmp_path / "board.xml")]) == 2
    output = capsys.readouterr().err
    assert "declares a document type" in output
    assert output.count("\n") == 1


def test_a_log_becomes_a_pool_file(tmp_path, capsys):
    (tmp_path / "log.csv").write_text(RMM)
    words = [
        "trace",
        "import",
        str(tmp_path / "log.csv"),
        "--engine",
        "pool",
        "--out",
        str(tmp_path / "jobs.csv"),
        "--json",
    ]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["requests"] == 5
    lines = (tmp_path / "jobs.csv").read_text().splitlines()
    assert lines[:2] == ["time,app,card,action,handle,bytes", "0,0,gpu0,alloc,0,64"]
