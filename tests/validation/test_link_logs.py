"""Logs of single links: one figure a type is fitted, and what is left confirms or refutes each law."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.validation import validate as module
from workbench.validation.data_set import DataSet, Result
from workbench.validation.link_logs import COLUMNS, SETS

SET: DataSet = SETS[0]
HEAD = ",".join(COLUMNS) + "\n"
WORLD = """nvlink4,H100,a,one,18,360,fitted,x
nvlink4,H100,b,one,6,120,judged,x
nvlink4,H100,b,both,6,240,judged,x
pcie4,A100,c,one,1,24,fitted,x
pcie4,A100,c,both,1,36,judged,x
"""


def results(tmp_path: Path, text: str) -> dict[str, Result]:
    (tmp_path / "my_link_logs.csv").write_text(HEAD + text)
    facts = SET.extract([tmp_path / "my_link_logs.csv"])
    return {one.law: one for one in SET.judge(facts, SET.fit(facts))}


def test_each_law_has_its_rows(tmp_path: Path) -> None:
    paper, fitted, twice = results(tmp_path, WORLD).values()
    assert (paper.points, paper.verdict) == (3, "refuted")
    assert paper.error == pytest.approx(100 * (2 * (25 / 20 - 1) + 32 / 24 - 1) / 3)
    assert (fitted.points, fitted.error, fitted.verdict) == (1, 0.0, "confirmed")
    assert fitted.fitted == {"gbps of nvlink4": 20.0, "gbps of pcie4": 24.0}
    assert (twice.points, twice.error) == (2, pytest.approx(100 * (48 / 36 - 1) / 2))
    assert twice.rival_error == pytest.approx(50 * (abs(2 * 0.775 * 150 / 240 - 1) + abs(2 * 0.775 * 32 / 36 - 1)))


def test_without_rows_a_law_is_not_tested(tmp_path: Path) -> None:
    _, fitted, twice = results(tmp_path, "nvlink4,H100,a,one,18,360,fitted,x\n").values()
    assert (fitted.verdict, twice.verdict, twice.curves) == ("not tested", "not tested", ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nvlink9,H100,a,one,18,360,fitted,x\n", "unknown type 'nvlink9'"),
        ("nvlink4,H100,a,two,18,360,fitted,x\n", "unknown ways 'two'"),
        ("nvlink4,H100,a,one,18,360,kept,x\n", "unknown part 'kept'"),
        ("nvlink4,H100,a,one,18,fast,fitted,x\n", "links and gbps must be numbers above 0"),
        ("nvlink4,H100,a,one,18,1e99,fitted,x\n", "above 0 and below 1,000,000"),
        ("nvlink4,H100,a,one,0,360,fitted,x\n", "links and gbps must be numbers above 0"),
        ("nvlink4,H100,a,one,18,360,fitted,x\n" + "a,b,c,d,e,f,g,h,i,j\n", "is no table of comma-separated values"),
        ("a,b,c,d,e,f,g,h,i,j\n", "is no table|must have the columns|unknown type"),
    ],
)
def test_a_broken_table_is_refused_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        results(tmp_path, text)
    assert "my_link_logs.csv" in str(refused.value) and "\n" not in str(refused.value)


def test_other_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link_logs.csv").write_text("type,gbps\nnvlink4,360\n")
    with pytest.raises(InputError, match=r"must have the columns type, card, .*Got type, gbps"):
        SET.extract([tmp_path / "link_logs.csv"])


def test_the_levers_of_the_package_are_those_of_its_facts() -> None:
    assert module.levers_of(SET) == SET.fit(module.facts_of(SET))
