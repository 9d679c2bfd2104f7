"""Results folders and bundles of somebody else, with code that leaves a mark when it is executed."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import yaml

import workbench as wb
from workbench.errors import InputError
from workbench.experiments.results_folder import write_own

CODE = '''
import os
from pathlib import Path
from typing import NamedTuple

import workbench as wb
from beside import REACH
from workbench.figures.registry import ANY, Recipe
from workbench.structures.bitmaps import first_start

Path(os.environ["STRANGERS_MARK"]).write_text("executed")


class Evil(wb.policies.Placement):
    """Take the lowest start; there are no ties."""

    def answer(see):
        return first_start(see.free, see.length, 0)


class EvilLoad(wb.Generator):
    """Requests of one segment each."""

    count: int = wb.lever(30, least=1, most=1000, description="how many there are")

    def workgroups(self, machine, streams):
        import numpy as np
        from workbench.workloads.workload import Workgroups

        ones = np.ones(self.count, np.int64)
        return Workgroups(ones * 0, ones, ones * 5 + streams["durations"].integers(0, 4, self.count))


@wb.measure(unit="segments", better="lower", description="twice the largest request")
def twice(record):
    return 2.0 * float(record.length.max())


class Means(NamedTuple):
    mean: list

    def columns(self):
        return self._asdict()


def _draw(data):
    from workbench.figures import plot_style

    figure, (axes,) = plot_style.stacked(1, 1.4)
    axes.plot(data.mean)
    return figure


Recipe("evil_means", ANY, "The mean of each point.", lambda runs: Means([1.0]), _draw)
'''
BESIDE = "REACH = 3\n"
SWEEP = {
    "question": "Is it good?",
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"vary": ["first_fit", "last_fit"]}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles"],
    "seeds": 6,
}
KINDS = {
    "policy": {"policy": {"placement": {"vary": ["first_fit", "evil.py:Evil"]}}},
    "baseline": {"baseline": {"placement": "evil.py:Evil"}},
    "measure": {"measures": ["drain_cycles", "evil.py:twice"]},
    "figure": {"figures": ["evil.py:evil_means"]},
    "workload": {"workload": {"synthetic": "evil.py:EvilLoad", "count": 20}},
}
"""Where a sweep may name code."""
STUDY = {
    "engine": "shared_memory",
    "workload": {"regime": "large_uniform", "count": 20},
    "policy": {"placement": {"tune": ["first_fit", "evil.py:Evil"]}},
    "baseline": {"placement": "first_fit"},
    "objectives": ["drain_cycles"],
    "sampler": {"random": {"seed": 1}},
    "seeds": 2,
    "trials": 3,
    "holdout_seeds": 2,
}


def forgotten() -> None:
    """Forget what this process has executed of the code, as another process does not know it."""
    for name in [name for name in sys.modules if name.startswith("policy_file_")]:
        del sys.modules[name]
    for kind, name in (("generator", "evil_load"), ("figure", "evil_means"), ("policy", "evil")):
        try:
            wb.remove(kind, name)
        except InputError:
            continue


def written(folder: Path) -> Path:
    """Return a folder with the code."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evil.py").write_text(CODE)
    (folder / "beside.py").write_text(BESIDE)
    return folder


def made(folder: Path, changes: dict) -> Path:
    """Return a results folder that a run has left; the files of its code lie in it."""
    written(folder / "own")
    sweep = {**SWEEP, **changes}
    (folder / "own" / "s.yaml").write_text(yaml.safe_dump(sweep))
    wb.run(folder / "own" / "s.yaml", folder / "out", workers=0)
    return folder / "out"


def moved(template: Path, to: Path) -> Path:
    """Return a copy of a results folder of `made` whose code lies in it and is named from there on."""
    shutil.copytree(template, to)
    written(to)
    text = (to / "sweep.yaml").read_text().replace(f"{template.parent / 'own'}/", "")
    assert "/own/" not in text
    write_own(to / "sweep.yaml", text)
    return to
