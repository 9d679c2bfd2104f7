"""What the page on scenario discovery says came out, comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb

ROOT = Path(__file__).parents[2]
SWEEP = "sweeps/where/placement_box.yaml"


@pytest.mark.slow
@pytest.mark.parametrize("win", [False, True])
def test_its_sentences_are_those_of_the_command(win, tmp_path):
    page = " ".join((ROOT / "docs/pages/discovery.md").read_text().split())
    (sentence,) = wb.discover(ROOT / SWEEP, tmp_path / "out", win=win).sentences()
    assert f"workbench explain discover {SWEEP}{' --win' * win} {' '.join(sentence.split())}" in page
