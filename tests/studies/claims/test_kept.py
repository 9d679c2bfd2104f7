"""What `claims --out` keeps are ordinary results folders, one a sweep."""

import pytest

from workbench.api import open_results
from workbench.cli.main import main
from workbench.errors import StoreError
from workbench.export.verify import verify


def test_kept_claims_are_opened_exported_and_verified(tmp_path, capsys):
    out = tmp_path / "claims"
    assert main(["claims", "H1.7", "--seeds", "3", "--out", str(out), "--workers", "1"]) == 0
    first = capsys.readouterr().out
    kept = out / "placement_order"
    assert (out / "claims.csv").is_file() and (kept / "provenance.json").is_file()
    results = open_results(kept)
    assert (len(results.rows), results.failures) == (30, [])
    assert main(["results", str(kept)]) == 0
    assert "30 of 30 runs, 0 failed" in capsys.readouterr().out
    assert main(["export", str(kept), "--to", str(tmp_path / "paper")]) == 0
    assert verify(tmp_path / "paper", sample=0, figures=False).same
    assert main(["claims", "H1.7", "--seeds", "3", "--out", str(out), "--workers", "1"]) == 0
    assert "H1.7" in first and capsys.readouterr().out.splitlines()[-1] in first  # kept, not run again
    with pytest.raises(StoreError, match=r"claims is not a results folder: .* It holds some: placement_order\."):
        open_results(out)
