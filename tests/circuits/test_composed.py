"""Compositions that were searched for: each is an exact probe, and smaller or faster where the table says so."""

import csv
from pathlib import Path

import pytest

from benchmarks.probe_search import front
from tests.needs import needs
from tests.slow import LONG, thinned
from workbench.circuits import cases_of, circuit_of, differences
from workbench.circuits.composed_probes import Composition, composed, compositions
from workbench.circuits.proof import prove
from workbench.errors import InputError
from workbench.gates import AND, OR
from workbench.policies.probes import ExactRun, PrefixSuffixTree

TABLE = Path(__file__).parents[2] / "data" / "circuits" / "probe_search.csv"
ALL = [(how, blocks) for blocks in (2, 4, 8, 16, 32) for how in compositions(blocks)]


def name(value):
    return "-".join(map(str, value)).replace(" ", "")


@pytest.mark.parametrize("case", thinned(ALL, 16))
def test_each_composition_is_exact(case):
    how, blocks = case
    assert not list(differences(composed(how, blocks), cases_of(ExactRun(), blocks, 200)))


@pytest.mark.slow
@pytest.mark.parametrize("how", compositions(128), ids=name)
def test_thousands_of_states_of_128_blocks(how):
    assert not list(differences(composed(how, 128), cases_of(ExactRun(), 128, 10_000 if LONG else 2_000)))


@needs("bitwuzla")
@pytest.mark.parametrize("how", thinned([*compositions(16)], 4))
def test_each_is_proven_and_a_planted_fault_is_found(how):
    circuit, tree = composed(how, 16), circuit_of(PrefixSuffixTree(), 16)
    assert prove(circuit, tree).verdict == "equal"
    last = max(k for k, row in enumerate(circuit.rows) if row.kind == OR and row.out.size)
    circuit.rows[last] = circuit.rows[last]._replace(kind=AND)
    assert prove(circuit, tree).verdict == "different"


@pytest.mark.parametrize("blocks", [2, 12, 24])
def test_what_cannot_be_cut_into_two_leaves_is_refused(blocks):
    with pytest.raises(InputError, match="must be a power of two, at least two leaves of 2"):
        composed(Composition(2, "tree", "compared"), blocks)


def test_the_front_holds_whom_nobody_beats():
    values = {"a": (1, 9), "b": (2, 2), "c": (3, 2), "d": (9, 1), "e": (9, 9), "f": (2, 2)}
    rows = [{"probe": k, "relative_area": area, "relative_delay": delay} for k, (area, delay) in values.items()]
    assert [row["probe"] for row in front(rows)] == ["a", "b", "d", "f"]


def test_the_table_says_what_was_found():
    rows = list(csv.DictReader(TABLE.open()))
    searched = [row for row in rows if row["front"] and row["probe"].startswith("leaf") and int(row["blocks"]) <= 64]
    assert searched and {row["verdict"] for row in searched} <= {"equal", "undecided"}
    for blocks in ("16", "32", "64"):
        here = {row["probe"]: float(row["relative_area"]) for row in rows if row["blocks"] == blocks}
        assert min(here, key=here.__getitem__).startswith("leaf")
        assert min(here.values()) < 0.75 * here["prefix_suffix_tree"]
