"""`data/validation/conclusions.csv`: claims and shipped sweeps under two laws, and the table that a page shows."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import yaml

from docs.make_conclusions import FILE, PAIRS, conclusions, in_words, outcomes, sweep_conclusions
from workbench.claims import known_claims, malloc
from workbench.docs.reference import validation

PARALLEL = {pair.after["policy.heap"]: pair for pair in PAIRS if "policy.heap" in pair.after}
HEAPS = list(PARALLEL)


@pytest.fixture
def small_loads(monkeypatch):
    monkeypatch.setitem(malloc.CHANGED, "threads", 64)
    monkeypatch.setattr(malloc, "THREADS", [1, 64])
    monkeypatch.setattr(malloc, "ACTIVE", [1.0])
    monkeypatch.setattr(malloc, "OCCUPANCIES", [0.0])


def kept():
    with (Path(__file__).parents[2] / FILE).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_every_claim_of_a_pair_is_kept(pair):
    known = known_claims()
    ids = {id for id, claim in known.items() if claim.family in pair.families and claim.kind in pair.kinds}
    rows = [row for row in kept() if row["law"] == pair.name]
    assert {row["claim"] for row in rows if not row["claim"].startswith("sweep ")} == ids
    assert "failed" not in {row[side] for row in rows for side in ("before", "after")}


def test_no_other_pair_is_kept():
    assert {row["law"] for row in kept()} == {pair.name for pair in PAIRS}


@pytest.mark.parametrize("heap", HEAPS)
def test_all_eleven_claims_run_with_a_parallel_heap_and_none_serially(heap, small_loads, tmp_path):
    """A claim whose sweep names a lock of its own gets both levers; H2.10 leaves out what no parallel heap frees."""
    came = outcomes(PARALLEL[heap], PARALLEL[heap].after, 2, tmp_path)
    assert [outcome.id for outcome in came] == [f"H2.{k}" for k in range(1, 12)]
    assert [outcome.problem for outcome in came if outcome.problem] == []
    assert {case.missing for outcome in came for case in outcome.cases} == {0}
    policies = [yaml.safe_load(file.read_text())["policy"] for file in tmp_path.rglob("sweep.yaml")]
    used = {case.results for outcome in came for case in outcome.cases}
    assert len(policies) >= len(used) > 5
    assert all({"heap": heap, "lock": "word_by_word"}.items() <= policy.items() for policy in policies)
    assert {"vary", "arenas"}.isdisjoint(name for policy in policies for name in policy)


def test_a_claim_that_cannot_hold_says_why_with_its_counts(small_loads):
    (row,) = [row for row in conclusions(PARALLEL["page_queue"], 1) if row["claim"] == "H2.1"]
    assert (row["before"], row["after"]) == ("holds", "contradicted")
    assert row["cases before"] == "2 for; n = 64: 2 atomics against 64: 1/32 of them"
    assert row["cases after"].startswith("cannot hold: a request makes several accesses (R24), not one atomic; ")
    assert row["cases after"].endswith("of them") and "1/32 of them" not in row["cases after"]


def test_a_tested_claim_shows_its_decisive_case(small_loads):
    (outcome,) = [one for one in outcomes(PARALLEL["page_queue"], {}, 1) if one.id == "H2.8"]
    assert in_words(outcome) == "16 neither; 2 B, makespan_cycles: 1"


def test_a_sweep_that_the_other_law_refuses_says_why(tmp_path, monkeypatch):
    config = {
        "engine": "malloc",
        "machine": "h100",
        "workload": {"synthetic": "random_mallocs", "threads": 64},
        "policy": {"serve": {"vary": ["per_thread", "warp_aggregated"]}},
        "measures": ["makespan_cycles"],
    }
    own = {**config, "policy": {**config["policy"], "arenas": {"warp_arenas": {"arenas": 2}}}}
    folder = tmp_path / "sweeps" / "malloc"
    folder.mkdir(parents=True)
    (folder / "arenas.yaml").write_text(yaml.safe_dump(own))
    (folder / "plain.yaml").write_text(yaml.safe_dump(config))
    monkeypatch.chdir(tmp_path)
    arenas, plain = sweep_conclusions(PARALLEL["scattered_pages"], 1)
    assert (arenas["claim"], arenas["after"]) == ("sweep arenas", "not applicable")
    assert "must be one_heap for the heap scattered_pages" in arenas["cases after"]
    assert (plain["claim"], plain["before"]) == ("sweep plain", "warp_aggregated")
    assert plain["after"] in ("warp_aggregated", "per_thread")


def test_the_table_shows_what_changes_and_names_the_rest_by_law(tmp_path, monkeypatch):
    heads = ["law", "claim", "statement", "before", "after", "cases before", "cases after", "changed sides"]
    rows = [
        ["a -> b", "M1", "it pays", "holds", "fails_where", "2 for", "1 for, 1 against", "1"],
        ["a -> b", "M2", "it is safe", "holds", "holds", "1 for", "1 for", "0"],
        ["a -> c", "M1", "it pays", "holds", "holds", "2 for", "2 for", "0"],
        ["a -> c", "M2", "it is safe", "fails_where", "fails_where", "1 for", "1 against", "1"],
    ]
    file = tmp_path / "conclusions.csv"
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([heads, *rows])
    monkeypatch.setattr(validation, "CONCLUSIONS", file)
    made = validation.conclusions_table()
    assert "| a -> b | M1: it pays | holds (2 for) | fails_where (1 for, 1 against) | 1 |" in made
    assert "| a -> c | M2: it is safe |" in made
    assert "Unchanged, a -> b: M2." in made and "Unchanged, a -> c: M1." in made
