"""A tuner's folder holds the study of the code that it was begun with."""

import pytest

from tests.identity.test_policy_files import write
from tests.identity.test_runs import make
from tests.tuning.small import small
from workbench import lever
from workbench.errors import StoreError
from workbench.policies import Placement
from workbench.tuning import tune


def study(*candidates):
    """Return a small study of some placements."""
    placement = {"tune": ["first_fit", *candidates]}
    return small(policy={"placement": placement}, baseline={"placement": "first_fit"}, holdout_seeds=None, seeds=1)


def refused(tmp_path, candidate):
    """Return whether a study is refused in the folder of another."""
    problems = []
    try:
        tune(study(candidate), tmp_path / "out", 2)
    except StoreError as problem:
        problems.append(str(problem).removeprefix(f"{tmp_path / 'out'} "))
    assert problems in ([], ["holds a study of another search space; choose another folder."])
    return bool(problems)


@pytest.mark.slow
def test_an_edited_policy_file_is_another_study(tmp_path):
    def written(aim):
        write(
            tmp_path,
            "import helper\nfrom tests.identity.lowest import from_aim",
            "from_aim(see.free, see.segments, see.length, helper.AIM)",
            helper=f"AIM = {aim}",
        )
        return f"{tmp_path / 'mine.py'}:Mine"

    tune(study(written("00")), tmp_path / "out", 2)
    assert not refused(tmp_path, written("00"))
    assert refused(tmp_path, written("16"))


@pytest.mark.parametrize("given", [lambda cls: cls, lambda cls: cls(), lambda cls: {"mine": {}}])
def test_another_class_of_the_same_name_is_another_study(given, tmp_path):
    tune(study(given(make(0))), tmp_path / "out", 2)
    assert not refused(tmp_path, given(make(0)))
    assert refused(tmp_path, given(make(16)))


def test_levers_that_are_tuned_are_of_the_code_that_they_belong_to(tmp_path):
    def levelled(aim):
        class Levelled(Placement):
            shift: int = lever(0, least=0, most=4)
            _aim = aim

            def answer(see):
                return -1 if see.length > see.segments else 0

        return Levelled

    tune(study(levelled(1)), tmp_path / "out", 2)
    assert not refused(tmp_path, levelled(1))
    assert refused(tmp_path, levelled(2))
