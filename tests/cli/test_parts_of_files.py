"""`FILE.py:NAME` on the command line: a figure, a circuit and an importer of a user's file, where they are used."""

import re

import pytest

import workbench as wb
from workbench.cli import main
from workbench.errors import InputError
from workbench.parts import remove
from workbench.workloads.importers.importer import IMPORTERS

FIGURE = """
from typing import NamedTuple
from workbench.figures.registry import ANY, Recipe, on_paper

class Seen(NamedTuple):
    runs: list
    def columns(self):
        return self._asdict()

@on_paper
def draw(data):
    from workbench.figures import plot_style
    return plot_style.stacked(1, 1.4)[0]

Recipe("of_a_file", ANY, "How many runs there are.", lambda runs: Seen([len(runs.rows)]), draw)
"""


@pytest.mark.slow
def test_a_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(FIGURE)
    wb.run({"engine": "shared_memory", "workload": "large_uniform", "seeds": 2}, "kept", workers=0)
    try:
        assert main(["figure", "mine.py:of_a_file", "kept", "--to", "drawn"]) == 0
        assert (tmp_path / "drawn/of_a_file.csv").read_text() == "runs\n2\n"
        assert main(["results", "kept", "--figure", "mine.py:of_a_file"]) == 0
        assert main(["figure", "mine.py:of_a_file"]) == 2
        assert "figure of_a_file is drawn of runs: workbench figure of_a_file DIR" in capsys.readouterr().err
        assert main(["figure", "mine.py:of_a_fil", "kept"]) == 2
        assert "unknown figure 'of_a_fil'" in capsys.readouterr().err
    finally:
        remove("figure", "of_a_file")


CIRCUIT = """
from workbench.circuits import Circuit, Maker, Step, add_circuit
from workbench.levers import lever
from workbench.policies.translation.peer import Peer

class Nobody(Peer):
    '''Ask nobody.'''
    spare: int = lever(0, least=0, most=7, description="an output")

    def answer(see):
        return -1

def build(policy, cores):
    net = Circuit(policy.name, source="a test", parameters={"CORES": cores, "SPARE": policy.spare})
    net.output("same", net.input("holders", cores))
    return net

def cases(policy, cores, count, seed=0):
    return [[Step({"holders": state}, {"same": state})] for state in range(count)]

add_circuit(Maker("peer.nobody", build, cases, size="cores"))
"""


def test_a_circuit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CIRCUIT)
    try:
        assert main(["circuit", "write", "mine.py:Nobody", "--size", "4", "--set", "spare=3"]) == 0
        assert "localparam SPARE = 3;" in capsys.readouterr().out
        assert main(["circuit", "write", "mine.py:Nobody", "--size", "4", "--to", "vectors", "--count", "2"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2
        assert main(["circuit", "prove", "mine.py:Nobody", "mine.py:Nobody:spare=1", "--size", "4"]) == 0
        assert "nobody and nobody(spare=1) at 4: equal" in capsys.readouterr().out
        assert main(["circuit", "write", "mine.py:Somebody", "--size", "4"]) == 2
        assert "unknown policy class in mine.py 'Somebody'; there are Nobody." in capsys.readouterr().err
    finally:
        remove("circuit", "peer.nobody")
        remove("policy", "nobody")


IMPORTER = """
from workbench.workloads.importers import Importer, Trace
from workbench.workloads.kernels import KernelRows

class Stopwatch(Importer):
    format = "stopwatch_of_a_file"
    description = "lines of name, start and end"

    def recognises(self, head):
        return head.startswith(b"#stopwatch")

    def read(self, source):
        rows = KernelRows()
        for line in list(source.lines())[1:]:
            name, start, end = line.split()
            rows.add(name, start_ns=int(start), duration_ns=int(end) - int(start), device=0, workgroups=1,
                     shared_bytes=1, threads=64)
        return Trace(source.path, self.format, "kernels", rows.table())
"""


def test_an_importer(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(IMPORTER)
    (tmp_path / "run.txt").write_text("#stopwatch\ngemm 10 30\n")
    (tmp_path / "rmm.csv").write_text("Thread,Time,Action,Pointer,Size,Stream\n1,00:00:00:000001,allocate,0x1,64,0x0\n")
    own = ["--importer", "mine.py:Stopwatch"]
    assert main(["trace", "import", "run.txt"]) == 2
    assert "is no trace that is read here" in capsys.readouterr().err
    try:
        assert main(["trace", "import", "run.txt", *own]) == 0
        assert "format: stopwatch_of_a_file" in capsys.readouterr().out
        assert main(["trace", "import", "run.txt", *own, "--machine", "mi355x", "--out", "run.csv"]) == 0
        assert main(["trace", "residency", "run.txt", *own, "--machine", "mi355x", "--units", "0"]) == 0
        capsys.readouterr()
        assert main(["trace", "import", "rmm.csv", *own]) == 2
        assert re.search(
            r"--importer: rmm.csv is read by rmm\w*; mine.py:Stopwatch must recognize it", capsys.readouterr().err
        )
        assert main(["trace", "import", "run.txt", "--importer", "mine.py:Stop"]) == 2
        assert "unknown importer in mine.py 'Stop'; there are Stopwatch." in capsys.readouterr().err
        assert main(["trace", "import", "run.txt", "--importer", "none.py:Stopwatch"]) == 2
        assert "--importer: the importer file none.py does not exist" in capsys.readouterr().err
        assert main(["trace", "import", "run.txt", "--importer", "mine.py"]) == 2
        assert "--importer must be FILE.py:CLASS. Got 'mine.py'." in capsys.readouterr().err
    finally:
        del IMPORTERS["stopwatch_of_a_file"]


MEASURE = """
import workbench as wb

@wb.measure(unit="cycles", better="lower", description="how long the longest request waits")
def longest_wait(record):
    return (record.grant - record.arrival).max()
"""


def test_a_measure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MEASURE)
    assert main(["list", "measures", "mine.py:longest_wait"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("longest_wait (cycles, lower, yours)")
    assert 'measures: ["FILE.py:longest_wait"]' in printed
    sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 2}
    with pytest.raises(InputError, match=r"unknown measure in mine.py 'longest_wai'; there are longest_wait\."):
        wb.run({**sweep, "measures": ["mine.py:longest_wai"]}, workers=0)


@pytest.mark.parametrize("command", ["figure", "circuit write", "trace import", "open dashboard", "claims"])
def test_the_help_says_it(command, capsys):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    assert "FILE.py:" in capsys.readouterr().out
