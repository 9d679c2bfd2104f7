"""Chases over pages: files of the format, levels planted in them, and what the engine says of other strides."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.machine import preset
from workbench.validation import tlb_chases
from workbench.validation.tlb_chases import LAWS, OTHER, SETS, fit_level, read_chase
from workbench.validation.tlb_runs import Level, chase_cycles
from workbench.validation.validate import facts_of, levers_of

OF = {each.name: each for each in SETS}
FIRST, SECOND, THIRD = "k80_tlb_level_1", "k80_tlb_level_2", "k80_tlb_level_3"


def lru_cycles(pages: list[int], level: Level) -> float:
    """Return the mean cycles of the second round of a chase, by a plain dictionary for each set."""
    ways = level.ways or level.entries
    sets = [OrderedDict[int, None]() for _ in range(level.entries // ways)]
    inner, total = OrderedDict[int, None](), 0
    for page in pages * 2:
        hit, near = page in sets[page % len(sets)], page in inner
        total_of = level.inner_cycles if near else level.base_cycles + (0 if hit else level.extra_cycles)
        total = total + total_of
        for kept, most in ((inner, level.inner_entries), (sets[page % len(sets)], ways)):
            kept.pop(page, None)
            kept[page] = None
            if len(kept) > most:
                kept.popitem(last=False)
    return total / len(pages) - first_round(pages, level)


def first_round(pages: list[int], level: Level) -> float:
    """Return the cycles of a first round over its accesses: every new page misses."""
    new = len(set(pages))
    again = level.inner_cycles if level.inner_entries else level.base_cycles
    return (new * (level.base_cycles + level.extra_cycles) + (len(pages) - new) * again) / len(pages)


def write_chase(
    path: Path, level: Level, strides: tuple[int, ...], first: float, last: float, card: str = "Tesla K80", **worse: int
) -> Path:
    """Write a file of a world with one level; `worse` adds cycles to a stride, such as `s64=9`."""
    lines = [f"#{card}: cuda 3.7, reduction mode: avg", "#," + "".join(f"{stride}," for stride in strides)]
    for step in range(int((last - first) * 1024 / strides[0]) + 1):
        kb, row = int(first * 1024) + step * strides[0], ""
        for stride in strides:
            if (kb - int(first * 1024)) % stride == 0:
                pages = [i * stride * 1024 // level.page_bytes for i in range(kb // stride)]
                row += f"{int(lru_cycles(pages, level)) + worse.get(f's{stride}', 0) * (step % 8 == 0)}"
            row += ","
        lines.append(f"{kb / 1024:g},{row}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_engine_costs_what_a_plain_dictionary_counts():
    for level in (Level(12, 0, 4096, 100, 7), Level(12, 3, 4096, 100, 7), Level(24, 4, 4096, 300, 50, 6, 0, 200)):
        chases = [[i * step // 2 for i in range(count)] for step in (1, 2, 4) for count in (9, 24, 26, 31, 60)]
        cycles = chase_cycles([np.array(chase) for chase in chases], level, "lru")
        assert cycles.tolist() == pytest.approx([lru_cycles(chase, level) for chase in chases])


def test_a_planted_level_is_fitted_and_confirmed(tmp_path):
    path = write_chase(tmp_path / "TLB-Test-1-5-64-256.csv", Level(12, 0, 131072, 300, 12), (64, 128, 256), 1, 5)
    facts = OF[FIRST].extract([path])
    levers = OF[FIRST].fit(facts)
    planted = {"entries": 12, "ways": 0, "page_kb": 128, "base_cycles": 300, "extra_cycles": 12}
    assert levers == dict.fromkeys(LAWS, planted)
    results = {result.law: result for result in OF[FIRST].judge(facts, levers)}
    assert results["lru"].verdict == "confirmed"
    assert results["lru"].points == 65 + 17
    assert results["lru"].error < 0.5
    assert results["lru"].rival_error > 1.5
    assert [panel.panel for panel in results["lru"].curves] == [
        "stride 64 KB (judged)",
        "stride 128 KB (fitted)",
        "stride 256 KB (judged)",
    ]
    assert results["mru"].verdict == results["random"].verdict == "refuted"
    assert all(each.extract([path]).empty for name, each in OF.items() if name != FIRST)


def test_a_world_in_which_one_stride_differs_is_refuted(tmp_path):
    path = write_chase(tmp_path / "TLB-Test.csv", Level(12, 0, 131072, 300, 12), (64, 128, 256), 1, 5, s256=9)
    facts = OF[FIRST].extract([path])
    (lru, *_) = OF[FIRST].judge(facts, OF[FIRST].fit(facts))
    assert (lru.law, lru.verdict) == ("lru", "refuted")
    assert "stride 64 KB: R2 0.9" in lru.note


def test_sets_and_ways_are_found_with_the_level_before(tmp_path):
    inner, level = Level(14, 0, 2 << 20, 200, 40), Level(36, 4, 2 << 20, 240, 90, 14, 0, 200)
    files = [
        write_chase(tmp_path / "TLB-Test-20-48-1024-4096.csv", inner, (1024, 2048, 4096), 20, 48, "A card"),
        write_chase(tmp_path / "TLB-Test-60-100-1024-4096.csv", level, (1024, 2048, 4096), 60, 100, "A card"),
    ]
    facts = OF[OTHER].extract(files)
    levers = OF[OTHER].fit(facts)
    assert levers["lru, A card, 60 to 100 MB"] == {
        "entries": 36,
        "ways": 4,
        "page_kb": 2048,
        "base_cycles": 240,
        "extra_cycles": 90,
        "inner_entries": 14,
        "inner_ways": 0,
        "inner_cycles": 200,
    }
    results = {result.law: result for result in OF[OTHER].judge(facts, levers)}
    assert results["lru, A card, 20 to 48 MB"].verdict == "confirmed"
    assert results["lru, A card, 60 to 100 MB"].verdict == "confirmed"
    assert len(results) == 2 * len(LAWS)


def test_a_long_file_is_thinned_but_not_at_the_step():
    footprints = np.arange(100.0, 4000.0, 2.0)
    cycles = np.where(footprints > 1998, 400.0, 300.0)
    chase = tlb_chases.Chase(Path("a"), "A card", (2048,), 100, 3998, ((footprints, cycles),))
    (stride, *_), *_ = rows = tlb_chases.fitted_rows(chase)
    assert stride == 2048
    assert len(rows) < 600
    levers = fit_level(2048, np.array([x for _, x, _ in rows]), np.array([y for *_, y in rows]))
    assert levers["entries"] == 999


def test_a_point_far_from_all_others_costs_no_time():
    """Cycles of a hit are not tried one by one up to a wrong point."""
    footprints = np.arange(1, 33) / 8
    cycles = np.where(footprints <= 2, 241.0, 250.0)
    cycles[3] = 999_999_999
    levers = fit_level(128, footprints, cycles)
    assert (levers["entries"], levers["base_cycles"], levers["extra_cycles"]) == (16, 241, 9)


def test_a_curve_without_a_step_is_not_tested(tmp_path):
    path = write_chase(tmp_path / "TLB-Test.csv", Level(99, 0, 131072, 300, 12), (64, 128, 256), 1, 5)
    facts = OF[FIRST].extract([path])
    assert OF[FIRST].fit(facts) == {}
    assert {result.verdict for result in OF[FIRST].judge(facts, {})} == {"not tested"}


HEAD = "#Tesla K80: cuda 3.7, reduction mode: avg\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1 must name the card"),
        ("a,b\n1,2\n3,4\n", "line 1 must name the card"),
        (HEAD + "#,64,x,256,\n1,1,1,1,\n", "line 2: must be whole numbers. Got '64,x,256'"),
        (HEAD + "#,128,64,\n1,1,1,\n", r"strides must increase. Got \[128, 64\]"),
        (HEAD + "#,64,128,256,\n1,241,242,240,7,\n", "line 3: must have a number for each of 3 strides"),
        (HEAD + "#,64,128,256,\n1,241,fast,240,\n", "line 3: must be whole numbers. Got 'fast'"),
        (
            HEAD + "#,64,128,256,\none,241,242,240,\n",
            "line 3: must begin with a footprint in MB, 1048576 at most. Got 'one'",
        ),
        (HEAD + "#,64,128,256,\nnan,241,242,240,\n", "line 3: must begin with a footprint in MB"),
        (HEAD + "#,64,128,256,\n1,241,-2,240,\n", "line 3: must be whole numbers. Got '-2'"),
        (
            HEAD + "#,64,128,256,\n1,241," + "9" * 5000 + ",240,\n",
            "line 3: a number may have 9 digits. Got 5000 digits",
        ),
        (HEAD + "#,64,128,256,\n1,241,242,240,\n", "at least 8 footprints. Got 1"),
        (HEAD + "#,64,\n" + "1,241,\n" * 9, "footprints of stride 64 KB must increase"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path, text, problem):
    path = tmp_path / "TLB-Test-1-5-64-256.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        read_chase(path)
    assert str(path) in str(caught.value)


def test_the_same_chase_twice_is_refused(tmp_path):
    files = [
        write_chase(tmp_path / f"{name}TLB-Test.csv", Level(12, 0, 131072, 300, 12), (64, 128, 256), 1, 5)
        for name in "ab"
    ]
    with pytest.raises(InputError, match="holds the same chase as"):
        OF[FIRST].extract(files)


@pytest.mark.parametrize("name", OF)
def test_shipped_levers_are_fitted_on_the_shipped_facts(name):
    assert levers_of(OF[name]) == OF[name].fit(facts_of(OF[name]))


def test_shipped_levers_read_only_the_part_that_may_be_fitted():
    for name in (FIRST, SECOND, THIRD):
        facts = facts_of(OF[name])
        facts.loc[facts["part"] == "judged", "cycles"] = 1.0
        assert OF[name].fit(facts) == levers_of(OF[name])


def test_lru_is_confirmed_on_the_first_level_of_the_k80_and_others_are_not():
    results = OF[FIRST].judge(facts_of(OF[FIRST]), levers_of(OF[FIRST]))
    assert {result.law: result.verdict for result in results} == {
        "lru": "confirmed",
        "tree_plru": "refuted",
        "random": "refuted",
        "mru": "refuted",
        "s3fifo": "refuted",
    }


def test_presets_have_the_fitted_levers():
    k80, p100 = (preset(name).machine() for name in ("k80_tlb", "p100_tlb"))
    levels = [levers["lru"] for levers in map(levers_of, SETS[:4])]
    first, second, third, of_p100 = levels
    assert (k80.private_entries, k80.page_bytes) == (first["entries"], first["page_kb"] * 1024)
    assert (k80.middle_entries, k80.middle_cycles) == (second["entries"], first["extra_cycles"])
    assert (k80.shared_entries, k80.shared_ways, k80.shared_cycles) == (
        third["entries"],
        third["ways"],
        second["extra_cycles"],
    )
    assert k80.level_cycles == round(third["extra_cycles"] / k80.walk_levels)
    assert (p100.private_entries, p100.shared_cycles) == (of_p100["entries"], of_p100["extra_cycles"])
