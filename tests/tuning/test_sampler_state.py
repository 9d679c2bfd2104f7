"""A sampler or a cloud of somebody else's study is read without a call of anything that it might name."""

import pickle
from types import SimpleNamespace

import pytest

from tests.tuning.test_resume import Command
from workbench.errors import StoreError
from workbench.tuning.trial_store import check_trial, read_state


def _text(value):
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def _by_builtins(code):
    """A module's own builtins written into it, and then its `eval`."""
    room = "optuna.samplers._tpe"
    into = f"c{room}\nsampler\nc{room}.sampler\n__builtins__\nb0".encode()
    return b"\x80\x02" + into + f"c{room}.sampler\neval\n(".encode() + _text(code) + b"tR."


def _by_import(_):
    """A function of a module that a sampler's module imports."""
    return b"\x80\x02coptuna.samplers._cmaes\npickle\n."


def _by_class_of_another(_):
    """A class that a sampler's module imports."""
    return b"\x80\x02coptuna.samplers._cmaes\nBaseSampler\n."


def _by_class(_):
    """A class that reads its pickles elsewhere from now on."""
    changed = b"N}" + _text("_attr_key_optimizer") + _text("elsewhere") + b"s\x86b."
    return b"\x80\x02coptuna.samplers._cmaes\nCmaEsSampler\n" + changed


@pytest.mark.parametrize("written", [_by_builtins, _by_import, _by_class_of_another, _by_class])
def test_a_module_of_the_samplers_leads_to_nothing_else(tmp_path, written):
    from optuna.samplers import CmaEsSampler

    before = CmaEsSampler._attr_key_optimizer
    code = f"__import__('os').system('touch {tmp_path / 'done'}')"
    with pytest.raises(
        StoreError, match=r"holds no sampler that can go on \(.* (is no part of a sampler|is changed by it)\)"
    ):
        read_state(written(code), "sampler.pickle")
    assert not (tmp_path / "done").exists() and CmaEsSampler._attr_key_optimizer is before


@pytest.mark.parametrize("key", ["cma:optimizer:0", "sepcma:optimizer:0", "elsewhere:optimizer:0", "optimizer:0"])
def test_what_a_sampler_would_unpickle_is_read_with_care_whatever_it_is_called(tmp_path, key):
    content = pickle.dumps(Command(f"touch {tmp_path / 'done'}")).hex()
    trial = SimpleNamespace(number=3, system_attrs={key: content})
    with pytest.raises(StoreError, match=r"trial 3 beside .* holds no sampler that can go on"):
        check_trial(trial, "sampler.pickle")
    assert not (tmp_path / "done").exists()


def test_a_sampler_that_an_earlier_workbench_kept_goes_on():
    from workbench.tuning.optuna_extensions import TpeByPolicy

    kept = pickle.dumps(("4.0.0", 3, TpeByPolicy([], seed=1), {}), 3)
    earlier = kept.replace(b"tuning.optuna_extensions\n", b"tuning.samplers.tpe_by_policy\n")
    assert earlier != kept
    assert isinstance(read_state(earlier, "sampler.pickle").sampler, TpeByPolicy)
