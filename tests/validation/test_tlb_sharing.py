"""Tables of SMs that disturb each other: their format, the groups that they show, and what sharing costs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.validation.test_tlb_chases import write_chase
from workbench.errors import InputError
from workbench.validation.tlb_runs import Level
from workbench.validation.tlb_sharing import LAW, OTHER, SETS, cost_of_sharing, groups_of, read_table
from workbench.validation.validate import facts_of, levers_of

OF = {each.name: each for each in SETS}
K80 = "k80_tlb_sharing"


def write_table(
    path: Path, groups: list[list[int]], cost: int, start_up: int = 0, itself: int | None = None, card: str = "A card"
) -> Path:
    """Write a table of a world in which SMs of a group lose `cost` cycles to each other, and `itself` to themselves."""
    sms = sum(map(len, groups))
    lines = [f"#{card}: cuda 6.0", ", reduction mode: avg", "#----------- absolute values ---------------"]
    lines.append("#   " + "".join(f"{sm:03d} " for sm in range(sms)))
    for timed in range(sms):
        own = next(group for group in groups if timed in group)
        row = [
            280
            + timed
            + (start_up if other == 0 else 0)
            + ((cost if itself is None else itself) if other == timed else cost if other in own else other % 2)
            for other in range(sms)
        ]
        lines.append(f"{timed:03d} " + "".join(f"{cycles} " for cycles in row))
    path.write_text(
        "\n".join([*lines, "#----------- which SMs share TLB ---------------", "#  00 01", "00 .X .."]) + "\n"
    )
    return path


def chase_of(folder: Path, level: Level) -> Path:
    return write_chase(folder / "TLB-Test-10-60-1024-4096.csv", level, (1024, 2048, 4096), 10, 60, "A card")


def test_planted_groups_and_cost_are_confirmed(tmp_path):
    groups = [[0, 4], [1, 5, 6], [2], [3, 7]]
    files = [
        write_table(tmp_path / "TLBsharing-2048-9.txt", groups, 40, start_up=4),
        chase_of(tmp_path, Level(12, 0, 2 << 20, 250, 40)),
    ]
    facts = OF[OTHER].extract(files)
    levers = OF[OTHER].fit(facts)
    law = f"{LAW}, A card, 9 pages of 2048 KB"
    assert levers[law]["groups"] == [[0, 4], [1, 5, 6], [3, 7]]
    assert levers[law]["entries"] == 12
    (result,) = OF[OTHER].judge(facts, levers)
    assert (result.law, result.verdict, result.points) == (law, "confirmed", 2 + 6 + 2)
    assert result.rival_error == pytest.approx(100)
    assert result.note.startswith("3 groups of 2 or 3 SMs; predicted 40.0, measured")
    assert OF[K80].extract(files).empty


def test_another_cost_is_refuted(tmp_path):
    files = [
        write_table(tmp_path / "TLBsharing-2048-9.txt", [[0, 2], [1, 3]], 50),
        chase_of(tmp_path, Level(12, 0, 2 << 20, 250, 40)),
    ]
    facts = OF[OTHER].extract(files)
    (result,) = OF[OTHER].judge(facts, OF[OTHER].fit(facts))
    assert result.verdict == "refuted"


@pytest.mark.parametrize(
    ("groups", "cost", "note"),
    [
        ([[0], [1], [2]], 9, "no pair of SMs"),
        ([[0, 1, 2]], 1, "no pair of SMs"),
        ([[0, 1], [2, 3]], 9, "no chase over"),
    ],
)
def test_nothing_is_judged_without_pairs_or_a_chase(tmp_path, groups, cost, note):
    facts = OF[OTHER].extract([write_table(tmp_path / "TLBsharing-2048-9.txt", groups, cost)])
    (result,) = OF[OTHER].judge(facts, OF[OTHER].fit(facts))
    assert (result.verdict, result.points) == ("not tested", 0)
    assert result.note.startswith(note)


def test_a_chase_over_another_level_is_not_taken(tmp_path):
    table = write_table(tmp_path / "TLBsharing-2048-5.txt", [[0, 2], [1, 3]], 40)
    facts = OF[OTHER].extract([table, chase_of(tmp_path, Level(12, 0, 2 << 20, 250, 40))])
    assert set(facts["kind"]) == {"latency"}


def test_one_column_that_is_late_makes_no_group():
    cycles = np.full((6, 6), 300.0) + np.diag([8.0] * 6)
    cycles[1:, 0] += 11
    assert groups_of(cycles) == []


def test_sharing_costs_nothing_while_both_chases_fit():
    assert cost_of_sharing(Level(18, 0, 1 << 21, 250, 40), 9) == 0
    assert cost_of_sharing(Level(17, 0, 1 << 21, 250, 40), 9) == 40


HEAD = "#A card: cuda 6.0\n#--- absolute values ---\n#   000 001\n"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("TLBsharing.txt", HEAD, "must be called TLBsharing-STRIDE-PAGES.txt"),
        ("TLBsharing-2048-65.txt", "", "line 1 must name the card"),
        ("TLBsharing-2048-65.txt", "#A card: cuda 6.0\n", "must have a line 'absolute values'"),
        ("TLBsharing-2048-65.txt", HEAD + "000 1 2\n", "a row for each of 2 SMs, two at least. Got 1"),
        ("TLBsharing-2048-65.txt", HEAD + "000 1 x\n", "line 4: must be whole numbers"),
        ("TLBsharing-2048-65.txt", HEAD + "000 1 2\n001 1\n", "line 5: must have a latency for each of 2 SMs. Got 1"),
    ],
)
def test_a_broken_table_is_refused_in_a_sentence(tmp_path, name, text, problem):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_table(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", OF)
def test_shipped_levers_are_fitted_on_the_shipped_facts(name):
    assert levers_of(OF[name]) == OF[name].fit(facts_of(OF[name]))
