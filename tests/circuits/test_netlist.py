"""The netlist, its words, its simulator and its Verilog, on small circuits."""

import numpy as np
import pytest

from workbench.circuits import Circuit, Maker, Simulator, Step, add_circuit, as_lines, circuit_of, differences, verilog
from workbench.circuits import netlist as w
from workbench.circuits.vectors import gathered, spread
from workbench.errors import InputError
from workbench.parts import remove
from workbench.policies.placement import FirstFit

PAIRS = [(a, b) for a in range(16) for b in range(16)]


def binary_of(build):
    """What a function of two numbers of four bits says for all of them."""
    net = Circuit("both")
    net.output("out", build(net, net.input("a", 4), net.input("b", 4)))
    return Simulator(net, len(PAIRS)).step({"a": [a for a, _ in PAIRS], "b": [b for _, b in PAIRS]})["out"]


WORDS = {
    "sum": (lambda net, a, b: w.added(net, a, b, 5), lambda a, b: a + b),
    "difference": (lambda net, a, b: w.subtracted(net, a, b, 4), lambda a, b: (a - b) % 16),
    "exceeds": (w.exceeds, lambda a, b: a > b),
    "at least": (w.at_least, lambda a, b: a >= b),
    "equal": (w.equal, lambda a, b: a == b),
    "xor": (lambda net, a, b: net.xor(a, b), lambda a, b: a ^ b),
    "shifted": (lambda net, a, b: w.shifted_up(net, a, b), lambda a, b: a << b & 15),
    "one hot": (lambda net, a, b: w.one_hot(net, a, 16), lambda a, b: 1 << a),
    "ones": (lambda net, a, b: w.ones(net, np.concatenate([a, b])), lambda a, b: (a + 16 * b).bit_count()),
    "first one": (lambda net, a, b: w.first_one(net, a), lambda a, b: a & -a),
    "binary": (lambda net, a, b: w.binary(net, w.first_one(net, a)), lambda a, b: max((a & -a).bit_length() - 1, 0)),
    "chosen": (lambda net, a, b: w.chosen(net, a[:1], [b]), lambda a, b: b * (a & 1)),
    "largest": (lambda net, a, b: np.concatenate(w.larger_of(net, [a, b])), lambda a, b: max(a, b) + 16 * (b > a)),
    "prefix sums": (lambda net, a, b: w.prefix_sums(net, [a, b], 5)[2], lambda a, b: a + b),
}


@pytest.mark.parametrize("name", WORDS)
def test_words_compute_what_their_names_say(name):
    build, meant = WORDS[name]
    assert binary_of(build) == [int(meant(a, b)) for a, b in PAIRS]


def test_numbers_of_any_width_are_spread_over_lanes_and_back():
    numbers = [3**k % 2**70 for k in range(130)]
    assert gathered(spread(numbers, 70), 130) == numbers


def counter(reset=0):
    net = Circuit("counter", parameters={"BITS": 3})
    go, count = net.input("go"), net.register("count", 3, reset)
    net.follow("count", net.signal("next_count", w.added(net, count, go, 3)))
    net.output("now", count)
    return net


def test_registers_begin_with_their_reset_value_and_take_their_next_state():
    steps = [Step({"go": go}, {"now": now}) for go, now in ((1, 6), (1, 7), (0, 0), (1, 0))]
    assert not list(differences(counter(6), [steps]))
    assert [d.step for d in differences(counter(5), [steps])] == [0, 1, 2, 3]


def test_verilog_names_signals_parameters_and_resets():
    lines = [line.strip() for line in verilog(counter(6)).splitlines()]
    for line in ("localparam BITS = 3;", "reg [BITS-1:0] count;", "count <= 3'd6;", "count <= next_count;"):
        assert line in lines


def test_vectors_are_lines_of_hexadecimal_numbers():
    lines = list(as_lines([[Step({"go": 1}, {}), Step({"go": 0}, {"now": 13})]]))
    assert lines[1] == '{"case": 0, "step": 1, "inputs": {"go": "0"}, "outputs": {"now": "d"}}'


def test_a_name_that_is_taken_is_refused():
    net = counter()
    with pytest.raises(InputError, match="'go' cannot name another signal"):
        net.input("go")


def test_circuits_of_ones_own_join_and_leave():
    class PlainOfATest(FirstFit):
        """Take the lowest feasible start."""

    maker = Maker("placement.plain_of_a_test", lambda policy, size: counter(), lambda *_: [])
    with pytest.raises(InputError, match="has no circuit"):
        circuit_of(PlainOfATest(), 4)
    try:
        add_circuit(maker)
        assert circuit_of(PlainOfATest(), 4).name == "counter"
    finally:
        remove("circuit", maker.name)
        remove("policy", PlainOfATest.name)
