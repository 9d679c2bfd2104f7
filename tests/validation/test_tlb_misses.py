"""Counters of TLB misses of a copy: files of the format, and counts of a card that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.validation.tlb_misses import COUNTER, OTHER, SETS, Card, Law, predicted_misses
from workbench.validation.validate import facts_of, levers_of, validate_files

OF = {each.name: each for each in SETS}
SMALL = Card("A card", units=6, dies=2, simds=4, waves=8, wave_size=64, threads=1 << 20, group=256)
SYSTEM = "gpu_model,cu_per_gpu,num_xcd,simd_per_cu,max_waves_per_cu,wave_size\n{},6,2,4,8,64\n"


def write_workload(folder: Path, misses: list[int], card: str = "A card", system: str = SYSTEM) -> list[Path]:
    """Write the two files of a workload."""
    folder.mkdir()
    counts, about = folder / "pmc_perf.csv", folder / "sysinfo.csv"
    lines = [f"Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,{COUNTER}"]
    lines += [f'{at},"vecCopy(double*, double*)",1048576,256,{count}.0' for at, count in enumerate(misses)]
    lines.append("9,another_kernel,64,64,12345")
    counts.write_text("\n".join(lines) + "\n")
    about.write_text(system.format(card))
    return [counts, about]


def test_breadth_first_dispatch_misses_each_page_in_each_unit():
    for choice in ("least_waves", "round_robin"):
        assert predicted_misses(SMALL, Law(choice)) == 6 * 8
    assert predicted_misses(SMALL, Law("least_waves", "round_robin_dies")) == 6 * 8
    assert predicted_misses(SMALL._replace(threads=1 << 18), Law("least_waves")) == 6 * 2
    assert predicted_misses(SMALL._replace(units=64, dies=1), Law("least_waves", page_kb=64)) == 8192
    assert predicted_misses(SMALL._replace(units=64, dies=1), Law("least_waves", page_kb=4)) == 8192


def test_first_fit_leaves_pages_out_on_a_card_that_holds_much():
    large = SMALL._replace(units=200, dies=1, waves=32)
    assert predicted_misses(large, Law("first_module")) < predicted_misses(large, Law("least_waves")) == 200 * 8


def test_a_planted_card_confirms_breadth_first_dispatch(tmp_path):
    files = write_workload(tmp_path / "one", [48, 0, 48]) + write_workload(tmp_path / "two", [48, 49])
    facts = OF[OTHER].extract(files)
    assert facts[["misses", "dispatches"]].to_numpy().tolist() == [[0, 1], [48, 3], [49, 1]]
    results = {result.law: result for result in OF[OTHER].judge(facts, OF[OTHER].fit(facts))}
    breadth = results["least_waves, pages of 2048 KiB, A card"]
    assert (breadth.verdict, breadth.points, breadth.fitted) == ("confirmed", 4, {})
    assert breadth.error == pytest.approx(100 * (1 - 48 / 49) / 4)
    assert breadth.note == "predicted 48; 3 of 4 dispatches are equal, median error 0.00 %"
    assert results["least_waves, pages of 64 KiB, A card"].verdict == "refuted"
    assert all(each.extract(files).empty for name, each in OF.items() if name != OTHER)


def test_a_card_that_counts_otherwise_refutes_it(tmp_path):
    facts = OF[OTHER].extract(write_workload(tmp_path / "one", [40]))
    assert {result.verdict for result in OF[OTHER].judge(facts, {})} == {"refuted"}


def test_counts_of_0_are_not_collected(tmp_path):
    facts = OF[OTHER].extract(write_workload(tmp_path / "one", [0]))
    assert {(result.verdict, result.points) for result in OF[OTHER].judge(facts, {})} == {("not tested", 0)}


def test_cards_are_told_apart_by_their_model(tmp_path):
    files = write_workload(tmp_path / "one", [48], "MI100") + write_workload(tmp_path / "two", [40], "MI300X_A1")
    assert OF["mi100_tlb_misses"].extract(files)["misses"].tolist() == [48]
    assert OF["mi300x_tlb_misses"].extract(files)["misses"].tolist() == [40]


def test_a_workload_without_the_counter_gives_nothing(tmp_path):
    files = write_workload(tmp_path / "one", [48])
    files[0].write_text(files[0].read_text().replace(COUNTER, "SQ_WAVES"))
    assert OF[OTHER].extract(files).empty
    with pytest.raises(InputError, match="holds no file of measurements"):
        validate_files(tmp_path)


@pytest.mark.parametrize(
    ("at", "old", "new", "problem"),
    [
        (0, "Kernel_Name", "Kernel", "must have a column Kernel_Name"),
        (0, "48.0", "many", f"{COUNTER} must be a whole number, 0 at least. Got 'many'"),
        (0, ",256,", ",0,", "Workgroup_Size must be a whole number, 1 at least. Got '0'"),
        (0, "1048576", "9" * 12, "must have at most 1048576 workgroups"),
        (1, "cu_per_gpu", "cus", "must have a column cu_per_gpu"),
        (1, ",6,2,", ",7,2,", r"num_xcd \(2\) must divide cu_per_gpu \(7\)"),
        (0, "1048576", "1" * 140_000, "must be a CSV file"),
        (1, "A card,6,2,4,8,64\n", "", "must have a line of column names and a row below it"),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path, at, old, new, problem):
    files = write_workload(tmp_path / "one", [48])
    files[at].write_text(files[at].read_text().replace(old, new))
    with pytest.raises(InputError, match=problem) as caught:
        OF[OTHER].extract(files)
    assert str(files[at]) in str(caught.value)


def test_a_missing_sysinfo_is_named(tmp_path):
    with pytest.raises(InputError, match=r"needs sysinfo\.csv of the same folder"):
        OF[OTHER].extract(write_workload(tmp_path / "one", [48])[:1])


@pytest.mark.parametrize("name", OF)
def test_nothing_is_fitted(name):
    assert levers_of(OF[name]) == OF[name].fit(facts_of(OF[name])) == {}


def test_of_a_folder_only_sets_with_facts_are_compared(tmp_path):
    write_workload(tmp_path / "one", [48])
    (compared,) = validate_files(tmp_path)
    assert (compared.data_set.name, compared.facts, compared.refitted) == (OTHER, 1, True)


def test_breadth_first_dispatch_is_confirmed_on_the_mi100():
    data_set = OF["mi100_tlb_misses"]
    results = {result.law: result for result in data_set.judge(facts_of(data_set), {})}
    assert results["least_waves, pages of 2048 KiB"].verdict == "confirmed"
    assert results["first_module, pages of 2048 KiB"].verdict == "refuted"
