"""What 0.4 called parts of an engine, of an importer and of a lever is taken for one release, with one warning."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import workbench as wb
from tests.house.test_recipes import recipes, run_block
from workbench.engines.shared_memory import SharedMemory
from workbench.errors import InputError
from workbench.experiments.mechanism import Mechanism, enter, mechanism
from workbench.figures import calculated, figure
from workbench.levers import Spec, lever
from workbench.machine import Machine
from workbench.metrics.measure import Measure, declared
from workbench.metrics.shared_memory import MEASURES
from workbench.streams import Streams
from workbench.workloads.importers import Importer, Trace, read_trace
from workbench.workloads.importers.importer import _KNOWN
from workbench.workloads.kernels import KernelRows


class TossRecord(NamedTuple):
    heads: np.ndarray


class TossOptions(Spec):
    cycles: int = lever(9, least=1, most=10**6, unit="cycles", description="how often the coin is thrown")


class Toss:
    """The engine of 0.4's recipe, word for word but for its name."""

    name = "old_toss"
    revision = 1
    machine = Machine
    wants = "workgroups"
    slots = {"placement": "first_fit"}
    options = TossOptions

    def asks(self, slot):
        return slot

    def admit(self, setup, seed):
        if setup.options.cycles == 13:
            raise InputError("13 cycles bring bad luck.")

    def simulate(self, setup, seed, events=False):
        return TossRecord(Streams(seed)["coin"].random(setup.options.cycles) < 0.5)


def entered(engine):
    measures = declared(Measure("heads", "", "higher", "share of heads"))
    enter(Mechanism(engine, measures, lambda record: {"heads": float(record.heads.mean())}, lambda record: {}))


@pytest.fixture
def fresh_toss():
    """The engine as its cell defines it, which has not been entered yet."""
    yield type("Toss", (), {name: value for name, value in vars(Toss).items() if name != "__dict__"})
    wb.remove("engine", "old_toss")


def test_an_engine_in_words_of_0_4_runs_with_one_warning(fresh_toss):
    with pytest.warns(DeprecationWarning, match=r"old_toss: write workload_kind, question_of, validate for") as told:
        entered(fresh_toss())
    assert len(told) == 1 and told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        table = wb.run({"engine": "old_toss", "workload": "large_uniform", "seeds": 2}).table
    assert (table["status"] == "done").all() and table["heads"].between(0, 1).all()


def test_its_refusals_are_heard(fresh_toss):
    with pytest.warns(DeprecationWarning, match=r"wants, asks, admit; words of 0\.4 are taken"):
        entered(fresh_toss())
    with pytest.raises(InputError, match=r"13 cycles bring bad luck"):
        wb.run({"engine": "old_toss", "workload": "large_uniform", "options": {"cycles": 13}, "seeds": 1})


def test_todays_words_bring_no_warning(fresh_toss):
    cls = fresh_toss
    cls.workload_kind, cls.question_of, cls.validate = cls.wants, cls.asks, cls.admit
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entered(cls())


def test_the_package_is_not_given_old_words():
    assert not {"wants", "asks", "admit"} & set(vars(SharedMemory))


@pytest.mark.parametrize(("old", "new"), [("wants", "workload_kind"), ("asks", "question_of"), ("admit", "validate")])
def test_an_engine_of_the_package_is_read_by_old_words(old, new):
    engine = mechanism("shared_memory").engine
    with pytest.warns(DeprecationWarning, match=rf"SharedMemory\.{old} is now called {new}\.") as told:
        assert getattr(engine, old) == getattr(engine, new)
    assert told[0].filename == __file__


@pytest.mark.parametrize("part", [figure("pareto"), calculated("probe_success"), MEASURES["drain_cycles"]])
def test_what_a_figure_and_a_measure_say_of_themselves_is_their_description(part):
    with pytest.warns(DeprecationWarning, match=rf"{type(part).__name__}\.says is now called description\.") as told:
        assert part.says == part.description
    assert told[0].filename == __file__


LINES = "#old stopwatch\ngemm 10 30\n"


def stopwatch(word, module=__name__):
    """An importer as a cell defines it, with the word that it describes its format by."""

    def recognises(self, head):
        return head.startswith(b"#old stopwatch\n")

    def read(self, source):
        rows = KernelRows()
        for name, start, end in (line.split() for line in list(source.lines())[1:]):
            rows.add(name, start_ns=int(start), duration_ns=int(end) - int(start), device=0)
        return Trace(source.path, self.format, "kernels", rows.table())

    space = {"format": "old_stopwatch", word: "lines of a stopwatch", "recognises": recognises, "read": read}
    return type("Stopwatch", (Importer,), {"__module__": module, **space})


@pytest.fixture
def no_stopwatch():
    yield
    del _KNOWN["old_stopwatch"]


def test_an_importer_that_says_reads_with_one_warning(tmp_path, no_stopwatch):
    with pytest.warns(DeprecationWarning, match=r"the importer old_stopwatch: write description for says;") as told:
        stopwatch("says")
    assert len(told) == 1 and told[0].filename == __file__
    (tmp_path / "a.txt").write_text(LINES)
    assert read_trace(tmp_path / "a.txt").facts()["kernels"] == 1


IGNORED = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("module", [__name__, "workbench.workloads.importers.old_stopwatch"])
@pytest.mark.parametrize("word", ["description", pytest.param("says", marks=IGNORED)])
def test_a_file_that_nobody_reads_is_told_what_is_read(tmp_path, no_stopwatch, word, module):
    stopwatch(word, module)
    (tmp_path / "a.txt").write_text("something else")
    what = "old_stopwatch (lines of a stopwatch)" if module == __name__ else ", old_stopwatch, "
    with pytest.raises(InputError, match=re.escape(what)):
        read_trace(tmp_path / "a.txt")


def test_a_lever_that_says_is_described_by_it():
    with pytest.warns(DeprecationWarning, match=r"lever\(says=\.\.\.\) is now called lever\(description=") as told:
        kept = lever(3, least=1, most=9, says="how often")
    assert len(told) == 1 and kept["description"] == "how often"


OLD = recipes((Path(__file__).parent.parent / "data" / "recipes_of_0_4.md").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", OLD)
def test_the_recipes_of_0_4_run_as_they_were_written(name, tmp_path):
    for kind, text in OLD[name]:
        assert run_block(kind, text, tmp_path).strip()
