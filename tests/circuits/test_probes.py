"""Every circuit of a probe says what the probe says."""

import pytest

from tests.circuits.probe_forms import on_one_hardware, rivals, shared, shifting
from tests.slow import LONG, thinned
from workbench.circuits import Step, cases_of, circuit_of, differences
from workbench.errors import InputError
from workbench.gates import AND, OR
from workbench.policies.probes import ExactRun, GroupedRun, PrefixSuffixTree, SharedRun


def name(probe):
    return probe.short() if hasattr(probe, "short") else str(probe)


@pytest.mark.parametrize("probe", thinned(shifting(), 12), ids=name)
def test_probes_by_shifting_in_every_form(probe):
    assert not list(differences(circuit_of(probe, 24), cases_of(probe, 24, 100)))


@pytest.mark.parametrize("probe", thinned(on_one_hardware(), 4), ids=name)
def test_three_cycles_on_one_hardware(probe):
    """It has more gates, the selectors; and fewer flip-flops but where the chain doubles, which keeps little apart."""
    circuit = circuit_of(probe, 24)
    assert not list(differences(circuit, cases_of(probe, 24, 100)))
    apart = circuit_of(probe.but(timing="pipe_3cycle"), 24)
    assert circuit.gates > apart.gates
    assert (circuit.flip_flops < apart.flip_flops) == (probe.chain != "doubling")


@pytest.mark.parametrize("size", [2, 3, 13, 24])
@pytest.mark.parametrize("probe", rivals(), ids=name)
def test_rivals_of_every_size(probe, size):
    assert not list(differences(circuit_of(probe, size), cases_of(probe, size, 60)))


@pytest.mark.parametrize("probe", thinned(shared(), 8), ids=name)
def test_the_shared_probe_of_several_resources(probe):
    for sizes in ((16, 8, 6), (9, 9, 8, 3), 12):
        assert not list(differences(circuit_of(probe, sizes), cases_of(probe, sizes, 40)))


@pytest.mark.slow
@pytest.mark.parametrize("probe", [*shifting()[::7], *on_one_hardware()[::5], *rivals()], ids=name)
def test_thousands_of_states_of_128_blocks(probe):
    assert not list(differences(circuit_of(probe, 128), cases_of(probe, 128, 10_000 if LONG else 2_000)))


VECTORS = {"0110_1110": 3, "0111100111111100": 7, "1" * 128: 128, "0" * 128: 0}
"""Worked examples of spec 3 and the ends."""


@pytest.mark.parametrize("text", VECTORS)
def test_worked_examples_of_the_specification(text):
    bits = text.replace("_", "")
    state = int(bits[::-1], 2)
    for probe in (ExactRun(), ExactRun(direction="left", decode="scan"), PrefixSuffixTree()):
        case = [Step({"state": state}, {"report": VECTORS[text]})]
        assert not list(differences(circuit_of(probe, len(bits)), [case]))


def test_the_circuit_has_the_gates_that_the_policy_counts():
    probe, blocks = ExactRun(chain="doubling", decode="scan"), 64
    circuit, cost = circuit_of(probe, blocks), probe.cost(blocks)
    assert sum(circuit.count(AND, OR)) == sum(probe.gate_list(blocks).netlist.count(AND, OR, part=0)) + sum(
        probe.gate_list(blocks).netlist.count(AND, OR, part=1)
    )
    assert (circuit.gates, circuit.levels, circuit.flip_flops) == (cost.gates, cost.depth, cost.registers)


def test_a_planted_fault_is_found_by_simulation():
    circuit = circuit_of(ExactRun(), 16)
    row = next(row for row in circuit.rows if row.kind == OR and row.out.size)
    circuit.rows[circuit.rows.index(row)] = row._replace(kind=AND)
    found = list(differences(circuit, cases_of(ExactRun(), 16, 200)))
    assert found
    assert "the circuit says report = " in str(found[0])


@pytest.mark.parametrize(
    ("probe", "size", "sentence"),
    [
        (GroupedRun(groups=5), 16, "must divide the 16 blocks"),
        (ExactRun(), 0, "blocks must be a whole number from 1 to 4096"),
        (SharedRun(cycles_a_period=2), (8, 8), "cycles_a_period must be 1 for a circuit"),
        (SharedRun(width=8, padding="occupied"), (8, 8), "padding must be zero for a circuit"),
        (SharedRun(alone="bit_serial", cycles_a_period=1), (8, 8), "alone must be exact_run"),
    ],
)
def test_what_a_circuit_cannot_have_is_one_sentence(probe, size, sentence):
    with pytest.raises(InputError, match=sentence):
        circuit_of(probe, size)
