"""A report on claims: each is printed as it finishes, one that fails is a row, and Ctrl-C leaves what finished."""

from __future__ import annotations

import json
import signal

import pytest

from workbench import claims as room
from workbench.claims import plan_claims
from workbench.claims.claim import Claim
from workbench.claims.dispatch_setting import QUEUED, experiment, groups
from workbench.cli.main import main
from workbench.errors import InputError
from workbench.statistics import fact

HELD = Claim("H9.1", "it is so", "¶1", lambda e: [fact("a", "counted", True)], kind="counted")
LAST = HELD._replace(id="H9.3")


def raising(evidence):
    """Stand for a claim of the package whose plan is refused, or whose code has a fault."""
    return [1 / 0]


raising.__module__ = "workbench.claims.placement"
FAILING = HELD._replace(id="H9.2", parts=raising)


@pytest.fixture
def known(monkeypatch):
    def enter(*claims):
        monkeypatch.setattr(room, "known_claims", lambda: {claim.id: claim for claim in claims})

    return enter


def test_a_lever_of_no_section_is_refused_before_any_claim_runs():
    with pytest.raises(InputError, match="unknown section of a sweep 'pool'; there are machine, options, policy, work"):
        plan_claims(["H1.8"], levers={"pool.path_metric": "bottleneck"})


def test_a_claim_that_fails_is_a_row_and_the_others_go_on(known):
    """0.5 stopped at the first that failed, and reported none."""
    known(HELD, FAILING, LAST)
    assert FAILING.built_in
    report = room.claims()
    sentence = report.verdicts[1].problem
    assert report.table[["id", "verdict"]].values.tolist() == [
        ["H9.1", "holds"],
        ["H9.2", "failed"],
        ["H9.3", "holds"],
    ]
    assert sentence.startswith("claim H9.2 raised ZeroDivisionError (division by zero) in raising (")
    assert report.text.splitlines()[2] == f"H9.2   FAILED         it is so [counted]: {sentence}"
    assert [one["claim"] for one in report.case_table.to_dict("records")] == ["H9.1", "H9.3"]
    assert sentence in report.markdown
    html = report._repr_html_()
    assert html.count("<tr>") == 4 and "<b>failed</b>" in html and "ZeroDivisionError" in html
    assert report.verdicts[0]._repr_html_().startswith("<pre>H9.1 ")
    assert str(report).splitlines()[1:] == [line[:80] for line in str(report).splitlines()[1:]]
    assert "H9.2   FAILED         it is so [counted]: claim H9.2 raised" in repr(report)
    assert repr(report.verdicts[0]).startswith("H9.1 ")
    long = report._replace(verdicts=report.verdicts * 20)
    lines = repr(long).splitlines()
    assert len(lines) <= 30 and lines[-1].endswith(f" of {len(long.heading) + 60}: report.text")
    plain = report.plain()[1]
    assert (plain["verdict"], plain["problem"], plain["cases"], plain["estimate"]) == ("failed", sentence, [], None)


def test_the_exit_status_says_that_a_claim_failed(known, capsys, tmp_path):
    known(HELD, FAILING, LAST)
    assert main(["claims", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "H9  holds: H9.1, H9.3; failed: H9.2"
    assert "H9.2,it is so,failed" in (tmp_path / "claims.csv").read_text()
    assert main(["claims", "--quiet"]) == 1
    assert capsys.readouterr() == ("", "workbench: claims ended with status 1; without --quiet it says why.\n")
    assert main(["claims", "--json"]) == 1
    assert [one["verdict"] for one in json.loads(capsys.readouterr().out)] == ["holds", "failed", "holds"]


def test_no_verdicts_are_kept_of_a_full_run_in_which_a_claim_failed(known, capsys, tmp_path, monkeypatch):
    known(HELD, FAILING)
    monkeypatch.chdir(tmp_path)
    assert main(["claims", "--write", "verdict"]) == 1
    message = "nothing is written to verdict, as claims failed: H9.2; results/claims keeps the runs."
    assert message in capsys.readouterr().err and not (tmp_path / "verdict").exists()


def test_each_claim_is_printed_as_it_finishes(known, capsys):
    seen = []

    def looks(evidence):
        seen.append(capsys.readouterr().out)
        return [fact("a", "counted", True)]

    known(HELD, LAST._replace(parts=looks))
    assert main(["claims"]) == 0
    assert seen[0].splitlines()[0].startswith("H9.1   HOLDS          it is so [counted]")
    assert "H9.1   HOLDS" not in capsys.readouterr().out
    assert main(["claims", "--json"]) == 0
    assert seen[1] == "" and len(json.loads(capsys.readouterr().out)) == 2


@pytest.mark.parametrize(("seeds", "is_warned"), [("5", True), ("6", False)])
def test_too_few_seeds_are_said_before_the_first_run(known, capsys, seeds, is_warned):
    """0.5 ran all claims at five seeds, of which none can be decided, and called them undecided."""
    seen = []

    def looks(evidence):
        seen.append(capsys.readouterr())
        return [fact("a", "counted", True)]

    known(HELD._replace(kind="tested", parts=looks))
    line = (
        "H9: at 5 seeds no gain or loss can be shown, whatever the data are: the smallest p of a direction is 0.069 "
        "among 1 claim; it takes 6 seeds"
    )
    assert main(["claims", "--seeds", seeds]) == 0
    assert main(["claims", "--seeds", seeds, "--json"]) == 0
    assert [line in seen[0].out, line in seen[1].err] == [is_warned, is_warned]


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_leaves_a_table_of_what_finished(known, capsys, as_json, tmp_path):
    def stops(evidence):
        signal.raise_signal(signal.SIGINT)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    known(HELD, FAILING, LAST._replace(parts=stops))
    try:
        assert main(["claims", "--out", str(tmp_path), *["--json"] * as_json]) == 130
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    printed = capsys.readouterr()
    assert printed.err == "workbench: stopped; 2 of 3 claims are judged.\n"
    if as_json:
        assert [one["id"] for one in json.loads(printed.out)] == ["H9.1", "H9.2"]
    else:
        assert printed.out.splitlines()[-1] == "H9  holds: H9.1; failed: H9.2"
    assert (tmp_path / "claims.csv").read_text().count("\n") == 3


def _makespan(evidence):
    runs = evidence.runs("changed_law", experiment(groups(200, arrival=QUEUED)))
    spans = runs.values(runs.points[0], "makespan_cycles")
    yield fact("all", "counted", True, estimate=spans[evidence.first])


LAW = {"options.progress": {"shared_rate": {"law": {"linear": {"slope": 3}}}}}


def test_claims_can_be_run_under_another_law_and_the_report_says_so(known, capsys):
    known(HELD._replace(parts=_makespan))
    stated, changed = room.claims(seeds=1), room.claims(seeds=1, levers=LAW)
    assert changed.verdicts[0].cases[0].estimate > stated.verdicts[0].cases[0].estimate
    text = "no verdict on the documents: every sweep is run with options.progress="
    assert changed.heading[0].startswith(text)
    assert not any(line.startswith(text) for line in stated.heading)
    assert main(["claims", "--seeds", "1", "--set", "options.progres=constant"]) == 1
    assert "Did you mean progress?" in capsys.readouterr().out
    assert main(["claims", "--write", "somewhere", "--set", "options.progress=constant"]) == 2
    assert "leave --quick, --set and the ids out" in capsys.readouterr().err
