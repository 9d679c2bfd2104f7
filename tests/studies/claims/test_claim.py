"""A claim stands or falls with its cases; what it costs is shown beside it and decides nothing."""

from __future__ import annotations

import pytest

from workbench.studies import claims as room
from workbench.studies.claims import ClaimReport, known_claims
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import compare, fact, judge, some, superior

NO_RUNS = Evidence(2, None, 1, None)
FASTER = superior("a", "faster", compare([9, 8, 9, 7, 8, 9, 8], [7, 7, 6, 6, 6, 7, 6]))
SLOWER = superior("b", "faster", compare([7, 7, 6, 6, 6, 7, 6], [9, 8, 9, 7, 8, 9, 8]))
TRUE, FALSE = fact("c", "counted", True), fact("d", "counted", False)


def found(*cases, **more):
    return Claim("H9.1", "it is so", "¶1", lambda evidence: cases, **more).found(NO_RUNS)[0]


@pytest.mark.parametrize(
    ("cases", "side"), [([FASTER, TRUE], "for"), ([FASTER, FALSE], "against"), ([SLOWER], "against")]
)
def test_every_case_must_hold(cases, side):
    whole = found(*cases)
    assert (whole.id, whole.statement, whole.side) == ("H9.1", "it is so", side)


@pytest.mark.parametrize(("cases", "side"), [([SLOWER, FASTER], "for"), ([SLOWER, FALSE], "against")])
def test_or_one_of_them_where_the_claim_says_so(cases, side):
    assert found(*cases, joined=some).side == side


def entered(monkeypatch, *claims):
    monkeypatch.setattr(room, "known_claims", lambda: {claim.id: claim for claim in claims})


def test_costs_are_reported_and_do_not_decide(monkeypatch):
    entered(monkeypatch, Claim("H9.1", "it is so", "¶1", lambda e: [FASTER], costs=lambda e: [SLOWER, TRUE]))
    report = room.claims("H9.1")
    assert report.verdicts[0].holds == "yes"
    assert report.case_table[["part", "case", "side"]].values.tolist() == [
        ["case", "a", "for"],
        ["cost", "b", "against"],
        ["cost", "c", "for"],
    ]
    assert [line.split()[0] for line in report.text.splitlines()] == ["H9.1", "for", "costs", "gains"]


def test_claims_that_fail_are_reported_as_failed(monkeypatch):
    failing = Claim("H9.2", "it is not", "¶2", lambda e: [SLOWER])
    entered(monkeypatch, Claim("H9.1", "it is so", "¶1", lambda e: [FASTER]), failing)
    assert room.claims().table[["id", "holds"]].values.tolist() == [["H9.1", "yes"], ["H9.2", "no"]]


def test_every_hypothesis_of_the_specifications_is_there_once_and_in_order():
    assert list(known_claims()) == [
        f"H{spec}.{n}" for spec, last in ((1, 9), (2, 11), (3, 18), (4, 9), (5, 11)) for n in range(1, last + 1)
    ]
    assert all(claim.statement and claim.source for claim in known_claims().values())


def test_a_report_without_cases_has_an_empty_table():
    assert ClaimReport(judge([]), {}, {}).case_table.empty
