"""What `claims --out` keeps are ordinary results folders, one a sweep."""

import json

import pytest

import workbench as wb
from workbench import claims as room
from workbench.api import open_results
from workbench.claims import placement
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.export.verify import verify


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setitem(placement.LEVERS, "count", 20)


@pytest.mark.slow
def test_kept_claims_are_opened_exported_and_verified(tmp_path, capsys):
    out = tmp_path / "claims"
    assert main(["claims", "H1.7", "--seeds", "3", "--out", str(out), "--workers", "1"]) == 0
    first = capsys.readouterr().out
    kept = out / "placement_order"
    assert (out / "claims.csv").is_file() and (kept / "provenance.json").is_file()
    results = open_results(kept)
    assert (len(results.rows), results.failures) == (324, [])
    assert main(["results", str(kept)]) == 0
    assert "324 of 324 runs, 0 failed" in capsys.readouterr().out
    assert main(["export", str(kept), "--to", str(tmp_path / "paper")]) == 0
    assert verify(tmp_path / "paper", sample=0, figures=False).same
    assert main(["claims", "H1.7", "--seeds", "3", "--out", str(out), "--workers", "1"]) == 0
    assert "H1.7" in first and capsys.readouterr().out.splitlines()[-1] in first  # kept, not run again
    with pytest.raises(StoreError, match=r"claims is not a results folder: .* It holds some: placement_order\."):
        open_results(out)


@pytest.mark.slow
def test_a_full_report_is_written_with_where_it_comes_from(tmp_path, capsys, monkeypatch):
    """In parts: what was run before it was stopped is kept, and the second time is the first's, to the byte."""
    monkeypatch.setattr(
        room, "known_claims", lambda known=room.known_claims: {id: known()[id] for id in ("H1.7", "H1.8")}
    )
    monkeypatch.chdir(tmp_path)
    command = ["claims", "--write", "data/verdict", "--out", "kept", "--seeds", "3", "--workers", "1"]
    assert main(command) == 0
    folder = tmp_path / "data" / "verdict"
    first = {path.name: path.read_text() for path in folder.iterdir()}
    assert set(first) == {"verdict.json", "verdict.csv", "verdict.md", "cases.csv", "provenance.json"}
    verdicts = json.loads(first["verdict.json"])
    assert [(one["id"], one["kind"]) for one in verdicts] == [("H1.7-pair", "tested"), ("H1.8", "counted")]
    assert verdicts[0]["results"] == ["placement_order"] and (tmp_path / "kept" / "placement_order").is_dir()
    came = json.loads(first["provenance.json"])
    assert came["seeds"] == {"first": 1_000_000, "count": 3} and came["environment"]["sources"]
    assert main(command) == 0
    assert {path.name: path.read_text() for path in folder.iterdir()} == first
    capsys.readouterr()
    assert main([*command[:1], "H1.8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [verdicts[1]]
    assert main(["claims", "H1.8", "--write", "x"]) == 2
    assert main(["claims", "--quick", "--write", "x"]) == 2 and not (tmp_path / "x").exists()


def test_what_a_claim_of_one_s_own_raises_is_one_sentence(tmp_path, monkeypatch, capsys):
    text = "def parts(evidence):\n    return [1 / 0]\n\nwb.add_claim(wb.Claim('M9', 'is', 'mine', parts))\n"
    (tmp_path / "mine.py").write_text(f"import workbench as wb\n{text}")
    monkeypatch.chdir(tmp_path)
    try:
        assert main(["claims", "mine.py:M9", "--seeds", "3"]) == 1
    finally:
        wb.remove("claim", "M9")
    assert "claim M9 raised ZeroDivisionError (division by zero) in parts (mine.py:3)." in capsys.readouterr().out
