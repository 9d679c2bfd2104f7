"""A claim stands or falls with its cases; what it costs is shown beside it and decides nothing."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from workbench import claims as room
from workbench.claims import ClaimReport, known_claims
from workbench.claims.cases import MARGINS
from workbench.claims.claim import Claim, Evidence, in_order
from workbench.claims.plan import family_sizes
from workbench.claims.report import Outcome, claim_lines
from workbench.statistics import compare, fact, some, superior

NO_RUNS = Evidence(2, None, 1, None)
BEFORE, AFTER = [9, 8, 9, 7, 8, 9, 8] * 2, [7, 7, 6, 6, 6, 7, 6] * 2
FASTER = superior("a", "faster", compare(BEFORE, AFTER))
SLOWER = superior("b", "faster", compare(AFTER, BEFORE))
TRUE, FALSE = fact("c", "counted", True), fact("d", "counted", False)


def verdict(*cases, **more):
    return Claim("H9.1", "it is so", "¶1", lambda evidence: cases, **more).judged(cases, 1).word


@pytest.mark.parametrize(
    ("cases", "word"), [([FASTER, TRUE], "holds"), ([FASTER, FALSE], "fails_where"), ([SLOWER], "contradicted")]
)
def test_every_case_must_hold(cases, word):
    assert verdict(*cases) == word


@pytest.mark.parametrize(("cases", "word"), [([SLOWER, FASTER], "holds"), ([SLOWER, FALSE], "contradicted")])
def test_or_one_of_them_where_the_claim_says_so(cases, word):
    assert verdict(*cases, joined=some) == word


def entered(monkeypatch, *claims):
    monkeypatch.setattr(room, "known_claims", lambda: {claim.id: claim for claim in claims})


def test_costs_are_reported_and_do_not_decide(monkeypatch):
    entered(monkeypatch, Claim("H9.1", "it is so", "¶1", lambda e: [FASTER], costs=lambda e: [SLOWER, TRUE]))
    report = room.claims("H9.1")
    assert (report.verdicts[0].verdict, report.verdicts[0].holds) == ("holds", "yes")
    assert report.case_table[["part", "case", "side"]].values.tolist() == [
        ["case", "a", "for"],
        ["cost", "b", "against"],
        ["cost", "c", "for"],
    ]
    assert [line.split()[0] for line in report.text.splitlines()[1:]] == ["H9.1", "for", "costs", "gains"]


def test_claims_that_fail_are_reported_as_failed(monkeypatch):
    failing = Claim("H9.2", "it is not", "¶2", lambda e: [SLOWER])
    entered(monkeypatch, Claim("H9.1", "it is so", "¶1", lambda e: [FASTER]), failing)
    assert room.claims().table[["id", "verdict", "holds"]].values.tolist() == [
        ["H9.1", "holds", "yes"],
        ["H9.2", "contradicted", "no"],
    ]


def test_the_family_is_the_specification_whatever_is_asked_for(monkeypatch):
    """0.4 corrected over the ids that were typed: the same claim was surer alone than with its fellows."""
    members = [Claim(f"H9.{k}", "it is so", "¶1", lambda e: [FASTER]) for k in range(1, 4)]
    counted = Claim("H9.4", "it is counted", "¶1", lambda e: [TRUE], kind="counted")
    entered(monkeypatch, *members, counted, Claim("M1", "of another family", "¶1", lambda e: [FASTER]))
    alone, together = room.claims("H9.1"), room.claims()
    assert alone.verdicts[0].p_adjusted == together.verdicts[0].p_adjusted == 3 * FASTER.p_for
    assert alone.heading == ["H9: every p-value times 3, the tested claims of the family, of which 2 are not run"]
    assert [one.family_size for one in together.verdicts] == [3, 3, 3, 3, 1]
    assert together.heading == [
        "H9: every p-value times 3, the tested claims of the family",
        "own: every p-value times 1, the tested claims of the family",
    ]


def test_every_figure_of_a_line_is_of_the_case_that_it_names():
    """0.4 showed the estimate of one part beside the p-value of another."""
    cases = [FASTER._replace(id="x", measure="m", unit="cycles"), SLOWER._replace(id="y", measure="n", unit="")]
    claim = Claim("H9.1", "it is so", "¶1", lambda e: cases)
    one = Outcome(claim, claim.judged(cases, 1), cases, [], 1)
    assert one.verdict == "fails_where"
    row = one.row()
    assert (row["case"], row["measure"], row["unit"], row["statistic"]) == ("y", "n", "", "mean")
    assert (row["p_for"], row["p_against"]) == (1.0, SLOWER.p_against)
    assert (row["estimate"], row["low"], row["high"]) == SLOWER.interval[:3]
    assert [one["side"] for one in one.case_rows()] == ["for", "against"]


def test_a_line_has_the_p_of_the_side_that_it_shows():
    """0.5 printed the p for the claim behind each side: `against ... p = 1`."""
    neither = superior("e", "faster", compare(BEFORE, BEFORE[::-1]))
    cases = [FASTER._replace(unit="x"), SLOWER, neither, TRUE]
    claim = Claim("H9.1", "it is so", "¶1", lambda e: cases)
    one = Outcome(claim, claim.judged(cases, 1), cases, [SLOWER], 1)
    faster, slower, third, counted, cost = claim_lines(one)[1:]
    assert faster.startswith("      for      a: 1.9x [1.5, 2.2], p <0.001")
    assert SLOWER.p_against < 0.001
    assert slower.endswith(", p <0.001 (faster)") and cost.split() == ["costs", *slower.split()[1:]]
    assert third.endswith(", p = 1 for, 1 against (faster)") and " p = " not in counted


def test_plain_has_the_keys_that_others_read():
    cases = [FASTER._replace(measure="m", unit="cycles", results="sweep")]
    claim = Claim("H9.1", "it is so", "¶1", lambda e: cases, design="one case")
    plain = Outcome(claim, claim.judged(cases, 2), cases, [], 2).plain()
    keys = "id verdict kind measure unit statistic estimate low high p_for p_against p_adjusted family cases results"
    assert plain.keys() >= set(keys.split())
    assert (plain["verdict"], plain["kind"], plain["family"], plain["results"]) == ("holds", "tested", "H9", ["sweep"])
    json.dumps(plain, allow_nan=False)


def test_every_hypothesis_of_the_specifications_is_there_once_and_in_order():
    words = """
        H1.8b H3.2b H3.4b H3.5b H3.8b H3.8c H3.9b H3.9c H3.10b H3.10c H3.11b H3.12b H3.12c H3.12d H4.1b H4.1c
        H4.2b H4.2c H4.2d H5.1b H5.9b H5.11b H6.1b
        """
    beside = words.split()
    assert [id for id in known_claims() if id not in beside] == [
        f"H{spec}.{n}"
        for spec, last in ((1, 9), (2, 11), (3, 18), (4, 9), (5, 11), (6, 8), (7, 3))
        for n in range(1, last + 1)
    ]
    assert [*known_claims()] == sorted(known_claims(), key=lambda id: (id[:2], in_order(id)))
    assert [id for id in known_claims() if id in beside] == beside
    assert all(claim.statement and claim.source for claim in known_claims().values())


def test_a_quick_report_is_of_every_specification():
    """0.5 left out the whole node."""
    plan = room.plan_claims(quick=True)
    assert {claim.family for claim in plan.claims} == {f"H{spec}" for spec in range(1, 8)}
    assert known_claims().keys() - {claim.id for claim in plan.claims} == {"H5.9b", "H5.11b"}


def test_what_is_true_by_construction_or_counted_is_said_to_be_so():
    kinds = {id: claim.kind for id, claim in known_claims().items() if claim.kind != "tested"}
    assert [id for id, kind in kinds.items() if kind == "measured"] == ["H5.11b"]
    by_construction = {
        *("H2.8", "H3.2", "H3.4", "H3.5b", "H3.8", "H3.9", "H4.8"),
        *("H5.1", "H5.1b", "H5.7", "H5.9", "H5.10", "H5.11"),
    }
    assert {id for id, kind in kinds.items() if kind == "by_construction"} == by_construction
    assert {id for id, kind in kinds.items() if kind == "counted"} == {
        *("H1.8", "H1.8b", "H2.1", "H2.5", "H2.6", "H3.9b", "H3.10", "H3.11", "H3.12", "H5.9b"),
        *("H3.8c", "H3.9c", "H3.10c", "H3.11b", "H3.12c", "H3.12d"),
    }


def test_what_is_true_by_construction_corrects_no_other_claim():
    sizes = family_sizes(known_claims())
    assert dict(sizes) == {"H1": 8, "H2": 7, "H3": 16, "H4": 13, "H5": 7, "H6": 9, "H7": 3}


def test_margins_are_registered_and_do_not_change():
    """Another margin is another claim: it gets a name of its own, and this digest is renewed with it."""
    message = "".join(f"{name}={one.value!r}@{one.since};" for name, one in MARGINS.items())
    assert hashlib.sha256(message.encode()).hexdigest()[:16] == "c66c0328e4a2efca"
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d", one.since) for one in MARGINS.values())


def test_claims_are_judged_on_seeds_that_no_sweep_uses():
    seeds = NO_RUNS.runs("x", {"engine": "shared_memory", "workload": "bimodal", "measures": ["drain_cycles"]}).seeds
    assert seeds == [1_000_000, 1_000_001]


def test_a_report_without_cases_has_an_empty_table():
    assert ClaimReport([]).case_table.empty and ClaimReport([]).text == ""
