"""Power of kernels: both tables are joined, energies are recovered, and a planted world is confirmed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.errors import InputError
from workbench.validation import kernel_power
from workbench.validation.validate import facts_of, levers_of

(SET,) = kernel_power.SETS
POWER = ",mean HW_power,st_dev\nbtree_k1,100,1\nbtree_k2,120.5,1\ncutlass_k1,90,1\nlonely_k1,80,1\n"
PERF = """Benchmark,Kernel,L1_RH,L1_RM,L1_WH,L1_WM,CC_ACC,SHRD_ACC,Pipeline_Duty,Num_Idle_SMs,Elapsed_Cycles
b+tree-rodinia-3.1,first,10,20,5,5,30,40,0.5,16,100
b+tree-rodinia-3.1,second,1,2,3,4,0,0,0.25,0,10
cutlass_perf_test_k1,third,0,0,0,0,0,0,1,79,10
"""
LEVERS = {"idle_watts": 1.0, "instr_move_pj": 500.0, "instr_load_pj": 800.0, "instr_store_pj": 900.0}


def written(folder: Path, power: str = POWER, perf: str = PERF) -> list[Path]:
    (folder / "hw_power_validation_volta.csv").write_text(power, errors="surrogateescape")
    (folder / "hw_perf.csv").write_text(perf, errors="surrogateescape")
    return sorted(folder.iterdir())


def world() -> pd.DataFrame:
    """Kernels whose watts are those of the model."""
    rates = np.random.default_rng(7).uniform(1, 60, (12, 3))
    facts = pd.DataFrame(rates, columns=["move", "load", "store"])
    facts.insert(0, "card", "V100")
    facts.insert(1, "kernel", [f"app_k{k + 10}" for k in range(12)])
    return facts.assign(watts=kernel_power._predicted("V100", facts, LEVERS))


def test_extract_joins_the_two_tables_by_program_and_number(tmp_path: Path):
    facts = kernel_power.extract(written(tmp_path)).set_index("kernel")
    assert facts.loc["btree_k1", ["watts", "move", "load", "store"]].tolist() == [100.0, 32.0, 1.0, 0.1]
    assert facts.loc["btree_k2", ["watts", "move", "load", "store"]].tolist() == [120.5, 20.0, 0.3, 0.7]
    assert facts.loc["cutlass_k1", "move"] == 1.0
    assert np.isnan(facts.loc["lonely_k1", "move"])
    assert set(facts["card"]) == {"V100"}


@pytest.mark.parametrize(
    ("power", "perf", "message"),
    [
        ("a,b\n1,2\n", PERF, "column 'mean HW_power'"),
        (POWER.replace("120.5", "much"), PERF, "mean HW_power must be a number above 0 in every row. Got 'much'"),
        (POWER.replace("120.5", "0"), PERF, "mean HW_power must be a number above 0"),
        (POWER.replace("120.5", "inf"), PERF, "mean HW_power must be a number above 0"),
        (POWER.replace("120.5", "\udcff"), PERF, "mean HW_power must be a number above 0"),
        (POWER, PERF.replace("L1_WM", "L9"), "with the column L1_WM"),
        (POWER, PERF.replace("0.25,0,10", "0.25,0,0"), "Elapsed_Cycles must be a number above 0"),
        (POWER, PERF.replace("0.25,0,10", "0.25"), "Num_Idle_SMs must be a number 0 at least in every row. Got None"),
        (POWER, PERF.replace("0.25,0,10", "\udcff,0,10"), "Pipeline_Duty must be a number 0 at least"),
        ("", PERF, "must have a line of column names"),
    ],
)
def test_a_broken_table_is_refused(tmp_path: Path, power: str, perf: str, message: str):
    with pytest.raises(InputError, match=message):
        kernel_power.extract(written(tmp_path, power, perf))


def test_one_table_without_the_other_is_refused(tmp_path: Path):
    perf, power = written(tmp_path)
    with pytest.raises(InputError, match="needs the counters"):
        kernel_power.extract([power])
    with pytest.raises(InputError, match="needs the watts"):
        kernel_power.extract([perf])


def test_a_fitted_half_without_counters_is_refused(tmp_path: Path):
    facts = kernel_power.extract(written(tmp_path)).assign(move=np.nan)
    with pytest.raises(InputError, match="V100 has no kernel with watts and counters that can be fitted"):
        kernel_power.fit(facts)


def test_a_judged_half_without_counters_is_not_tested():
    facts = world()
    facts.loc[np.arange(12) % 2 == 1, "move"] = np.nan
    (result,) = kernel_power.judge(facts, kernel_power.fit(facts))
    assert (result.verdict, result.points) == ("not tested", 0)
    assert np.isnan(result.error)


def test_planted_energies_are_recovered_and_confirmed():
    facts = world()
    levers = kernel_power.fit(facts)
    assert levers["class_power"]["V100"] == pytest.approx(LEVERS, rel=1e-3)
    (result,) = kernel_power.judge(facts, levers)
    assert (result.verdict, result.points) == ("confirmed", 6)
    assert result.error < 0.01
    assert result.r2 > 0.999


def test_a_world_that_the_mean_predicts_refutes_the_model():
    facts = world()
    facts["watts"] = 100.0 + (np.arange(12) % 2)
    (result,) = kernel_power.judge(facts, {"class_power": {"V100": LEVERS}})
    assert result.verdict == "refuted"
    assert result.rival_error < 1


def test_only_the_fitted_kernels_are_read_by_fit():
    facts = world()
    other = facts.assign(watts=facts["watts"].where(np.arange(12) % 2 == 0, 1.0))
    assert kernel_power.fit(other) == kernel_power.fit(facts)


def test_shipped_levers_are_those_of_the_shipped_facts():
    assert levers_of(SET) == kernel_power.fit(facts_of(SET))


def test_what_the_judged_kernels_of_the_card_say():
    (result,) = kernel_power.judge(facts_of(SET), levers_of(SET))
    assert (result.points, result.verdict) == (12, "confirmed")
    assert (result.error, result.rival_error) == (pytest.approx(11.587, abs=0.001), pytest.approx(21.361, abs=0.001))
