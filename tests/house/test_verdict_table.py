"""README and its page show what data/verdict holds, and data/verdict is of claims that there are."""

import json
import re
from pathlib import Path

import pytest

from docs import make_verdict
from workbench.claims import known_claims

ROOT = Path(__file__).parents[2]
DATA = ROOT / make_verdict.DATA


def verdict(id, word, kind="tested"):
    claim = known_claims()[id]
    return {"id": claim.verdict_id, "statement": claim.statement, "family": id[:2], "verdict": word, "kind": kind}


def keep(folder, verdicts, seeds=200, table=""):
    packages = {"gpu-policy-workbench": "0.4.0"}
    environment = {"commit": "0123456789", "python": "3.11.7", "machine": "a machine", "sources": "e0"}
    environment["packages"] = packages
    came = {"seeds": {"first": 1_000_000, "count": seeds}, "environment": environment}
    (folder / "verdict.json").write_text(json.dumps(verdicts))
    (folder / "provenance.json").write_text(json.dumps(came))
    (folder / "verdict.csv").write_text(table or "\n".join(["id", *(one["id"] for one in verdicts)]))


@pytest.mark.parametrize(
    ("page", "made"), [("README.md", make_verdict.summary), (make_verdict.PAGE, make_verdict.block)]
)
def test_both_pages_show_what_the_data_say(page, made):
    text = (ROOT / page).read_text()
    assert make_verdict.BEGINS in text and make_verdict.ENDS in text
    assert make_verdict.with_block(text, made(DATA)) == text


def test_the_readme_counts_verdicts_and_names_no_claim(tmp_path):
    made = [
        verdict("H1.1", "holds_where"),
        verdict("H1.8", "holds"),
        verdict("H1.9", "holds"),
        verdict("H3.2b", "undecided"),
    ]
    keep(tmp_path, made)
    sentence = make_verdict.summary(tmp_path).splitlines()[0]
    counts = "2 hold in every case, 1 holds in some, and 1 stays undecided."
    assert sentence == f"A full run of version 0.4.0 judged 4 claims: {counts}"
    assert not re.search(r"\bH[1-7]\.\d", (ROOT / "README.md").read_text())


def test_each_claim_stands_under_its_verdict(tmp_path):
    made = [verdict("H1.1", "holds_where"), verdict("H1.8", "holds", "counted"), verdict("H3.2b", "contradicted")]
    keep(tmp_path, made)
    displayed = make_verdict.block(tmp_path).splitlines()
    assert displayed[0].startswith("A full run of version 0.4.0 (")
    assert "200 paired seeds from 1,000,000 on, commit 0123456, Python 3.11.7, a machine." in displayed[0]
    assert "| 1, placement | H1.8° | H1.1-pair |  |  |  |" in displayed
    assert "| 3, dispatch |  |  |  |  | H3.2b-pair |" in displayed
    younger = "(none judged yet: its claims are younger than this run)"
    assert f"| 6, node {younger} |  |  |  |  |  |" in displayed
    assert not any(line.startswith("| 1, placement (") for line in displayed)
    assert "Younger than this run: H1.2, H1.3," in displayed[-1] and "H1.8," not in displayed[-1]


def test_only_the_block_is_replaced():
    text = f"a\n{make_verdict.BEGINS}\nold\n{make_verdict.ENDS}\nb\n"
    assert make_verdict.with_block(text, "new\n") == f"a\n{make_verdict.BEGINS}\nnew\n{make_verdict.ENDS}\nb\n"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"statement": "something else"}, r"of other claims than there are: H1\.1-pair"),
        ({"id": "M99"}, r"of other claims than there are: M99"),
        ({"seeds": 16}, "no full run"),
        ({"table": "id\nH1.2-pair\n"}, "different runs"),
    ],
)
def test_data_of_something_else_are_refused(tmp_path, changed, told):
    seeds, table = changed.pop("seeds", 200), changed.pop("table", "id\nH1.1-pair\n")
    keep(tmp_path, [{**verdict("H1.1", "holds"), **changed}], seeds, table)
    with pytest.raises(ValueError, match=told):
        make_verdict.block(tmp_path)


def test_a_verdict_of_another_question_or_test_is_marked(tmp_path):
    """0.4 judged means, and some claims ask another question since: their verdicts stand, with a mark."""
    old = {"statement": "what 0.4 asked", "family": "H3", "verdict": "holds", "kind": "tested"}
    of_means = {**verdict("H5.10", "holds", "by_construction"), "cases": [{"part": "case", "p": 0.01}]}
    counted = {**verdict("H3.2", "holds", "by_construction"), "cases": [{"part": "case", "p": None}]}
    of_pairs = {**verdict("H3.3", "holds"), "cases": [{"part": "case", "p_for": 0.01}]}
    made = [*({**old, "id": id} for id in ("H3.7", "H3.13b")), counted, of_pairs, of_means]
    keep(tmp_path, made)
    displayed = make_verdict.block(tmp_path).splitlines()
    assert "| 3, dispatch | H3.7‡, H3.13b‡, H3.2*, H3.3-pair |  |  |  |  |" in displayed
    assert "| 5, pool | H5.10*‡ |  |  |  |  |" in displayed
    assert "‡ The question or the test has changed since: version 0.4.0 judged most" in displayed[-1]
    keep(tmp_path, [counted, of_pairs])
    assert "‡" not in make_verdict.block(tmp_path)


def test_a_claim_that_was_a_tested_one_is_marked(tmp_path):
    """H2.8 is true by construction, and was tested when it was judged."""
    keep(tmp_path, [{**verdict("H2.8", "holds_where"), "id": "H2.8"}])
    assert "| 2, malloc |  | H2.8‡ |  |  |  |" in make_verdict.block(tmp_path).splitlines()
