"""Every shipped card holds as many groups as its vendor's own source says (`tests/data/occupancy/README.md`)."""

import numpy as np
import pytest

from tests.oracles import vendor_occupancy as vendors
from workbench.machine import Machine, preset
from workbench.machine.presets import preset_names

MODES = {name: name.partition("_")[0] for name in preset_names(Machine) if name.endswith(("_dpx", "_qpx", "_cpx"))}


@pytest.mark.parametrize("vendor", ["nvidia", "amd"])
def test_occupancy_is_what_the_vendors_source_says(vendor):
    kernels, replies = vendors.read(vendor)
    assert set(replies) == set(vendors.NVIDIA if vendor == "nvidia" else vendors.AMD) and len(kernels) == 2000
    for card, reply in replies.items():
        result = vendors.ours(card, kernels)[:, : reply.shape[1]]
        wrong = (result != reply).any(axis=1)
        assert not wrong.any(), (card, kernels[wrong][0], result[wrong][0], reply[wrong][0])
        assert len(np.unique(reply[:, 0])) > 8, "the kernels tell cards apart"


def test_every_card_is_compared():
    cards = {name for name in preset_names(Machine) if preset(name).kind == "hardware"}
    assert cards == {*vendors.NVIDIA, *vendors.AMD, *MODES}


@pytest.mark.parametrize("lever", ["workgroups_a_unit", "barriers_a_module", "vgpr_granule", "granule_bytes"])
def test_a_wrong_figure_is_noticed(lever, monkeypatch):
    kernels, replies = vendors.read("amd")
    wrong = preset("mi300x").machine()
    wrong = wrong.but(**{lever: getattr(wrong, lever) // 2})
    monkeypatch.setattr("workbench.machine.preset", lambda name: type("Made", (), {"machine": lambda self: wrong})())
    assert (vendors.ours("mi300x", kernels)[:, :1] != replies["mi300x"]).any()


@pytest.mark.parametrize("mode", MODES)
def test_a_partition_is_some_dies_of_its_card(mode):
    part, whole = preset(mode).machine(), preset(MODES[mode]).machine()
    assert part == whole.but(compute_units=part.compute_units, dies=part.dies)
    assert part.dies == whole.dies[: len(part.dies)]
    assert len(whole.dies) / len(part.dies) == {"dpx": 2, "qpx": 4, "cpx": 8}[mode[-3:]]
