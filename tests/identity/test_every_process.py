"""A digest of the package's own code is the same in every process, whatever this has imported and done before."""

import copy
import importlib
import json
import os
import pickle
import pkgutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench
from tests.slow import LONG
from workbench.identity import digest_of, one_moment
from workbench.levers import Spec

pytestmark = pytest.mark.slow

ROOMS = ("engines", "machine", "policies", "workloads")
SHARE = 1 if LONG else 4
"""Of how many specs one is digested."""
PRINT = """
import json
from tests.identity.test_every_process import digests, of_data
print(json.dumps([digests(), of_data()]))
"""

DATA = """
pd.DataFrame({'name': ['a', 'b'], 'weight': [5, 7]}).set_index('name')
pd.DataFrame([[1]])
pd.Series(['a'])
pd.Index(['a'])
pd.to_datetime(['2020-01-01'])
pd.Timestamp('2020')
pd.Categorical(['a','b'])
pd.Timedelta('1h')
pd.period_range('2020','2022',freq='Y')
np.random.default_rng
np.arange(12.0).reshape(3, 4)[:, 1]
np.arange(18.0)[::2]
np.arange(9.0)[::-1]
np.broadcast_to(np.arange(3.0), (4, 3))
np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2)
np.arange(12.0).reshape(3, 4).T
np.array([['a', 1]] * 3)[::2]
np.memmap(__file__, mode='r', shape=5)
"""
"""Values that code may read; some had another digest in each process (functions of Cython lay in them) or copied."""


def of_data():
    """Return the digests of values, by the text that makes each: as it is made, and as it is sent to a worker."""
    names = {"np": np, "pd": pd, "__file__": __file__}
    made = {text: eval(text, names) for text in DATA.split("\n") if text}
    return {text: [digest_of(one), digest_of(pickle.loads(pickle.dumps(one)))] for text, one in made.items()}


def digests():
    """Return the digest of every spec of the package, or of a share of them, by its place."""
    for room in ROOMS:
        package = importlib.import_module(f"workbench.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    named = {f"{cls.__module__}:{cls.__qualname__}": cls for cls in specs(Spec)}
    with one_moment():
        return {name: digest_of(cls) for name, cls in named.items() if zlib.crc32(name.encode()) % SHARE == 0}


def specs(base):
    """Yield the specs of the package that derive from a class."""
    for cls in base.__subclasses__():
        if cls.__module__.split(".")[1:2] and cls.__module__.startswith("workbench."):
            yield cls
        yield from specs(cls)


@pytest.fixture(scope="module", params=["7", *(pytest.param(seed, marks=pytest.mark.slow) for seed in ("0", "6640"))])
def elsewhere(request, tmp_path_factory):
    """The digests of specs and of data in another process of another clone with another order of sets."""
    clone, tree = tmp_path_factory.mktemp("clone"), Path(workbench.__file__).parents[1]
    for name in ("workbench", "tests"):
        (clone / name).symlink_to(tree / name)
    environment = {**os.environ, "PYTHONHASHSEED": request.param, "PYTHONPATH": str(clone)}
    command = [sys.executable, "-c", f"import workbench; assert {str(clone)!r} in workbench.__file__{PRINT}"]
    reply = subprocess.run(command, env=environment, cwd=clone, capture_output=True, text=True)
    assert reply.returncode == 0, reply.stderr
    return json.loads(reply.stdout)


def test_another_process_of_another_clone_has_the_same_digests(elsewhere):
    """Machines, boards and traces had other digests in another folder: they read a constant that names it."""
    there, _ = elsewhere
    import scipy.special
    import scipy.stats.qmc

    assert scipy.special and scipy.stats.qmc
    here = digests()
    assert len(there) > 200 // SHARE
    assert {name for name in there if here[name] != there[name]} == set()


def test_data_has_the_same_digest_in_every_process_and_after_it_travelled(elsewhere):
    (_, there), here = elsewhere, of_data()
    assert len({digest for pair in here.values() for digest in pair}) == len(here)
    assert {name: pair for name, pair in here.items() if pair != there[name] or pair[0] != pair[1]} == {}


def test_copying_an_object_changes_nothing():
    """Python notes something at a class when the first of its objects is copied or sent away."""
    from workbench.streams import Streams

    class Mine:
        aim = 3

    before = digest_of(Mine), digest_of(Streams)
    copy.copy(Mine())
    copy.copy(Streams(3))
    pickle.dumps(Streams(3))
    assert "__slotnames__" in vars(Mine)
    assert (digest_of(Mine), digest_of(Streams)) == before


def test_an_edited_part_of_the_package_is_seen(monkeypatch):
    from workbench.policies.placement import FirstFit, NearestBoundary
    from workbench.structures import bitmaps
    from workbench.workloads.synthetic.random_groups import RandomWorkgroups

    before = [digest_of(cls) for cls in (FirstFit, NearestBoundary, RandomWorkgroups)]
    monkeypatch.setattr(FirstFit, "answer", NearestBoundary.answer)
    monkeypatch.setattr(RandomWorkgroups, "workgroups", lambda self, machine, streams: None)
    after = [digest_of(cls) for cls in (FirstFit, NearestBoundary, RandomWorkgroups)]
    assert [one == other for one, other in zip(before, after)] == [False, True, False]
    assert bitmaps and workbench


def test_edited_random_streams_are_seen(monkeypatch):
    """No walk reaches them, as they come as an argument."""
    import workbench as wb
    from workbench.streams import Streams

    sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 1}
    before = wb.plan(sweep).points[0]
    monkeypatch.setattr(Streams, "uniforms", lambda self, name, count: 1 - self.flow(name)(count))
    after = wb.plan(sweep).points[0]
    assert before.id != after.id
    assert before.setup.workload == after.setup.workload


def test_a_word_of_the_package_is_the_same_before_and_after_its_first_use():
    """They are imported when they are first used, as by the compiler in the midst of a run."""
    before = vars(workbench).pop("is_free", None)

    def answer(see):
        return workbench.is_free(see.free, 0, 1)

    first = digest_of(answer)
    assert workbench.is_free
    assert digest_of(answer) == first
    assert before is None or workbench.is_free is before
