"""The presets of address translation hold the figures of their sources, and say which ones they assume."""

import pytest

from workbench.machine import TranslationMachine, preset, read_machine
from workbench.machine.machine import Machine
from workbench.machine.presets import preset_names

SAID = {  # private entries, ways, cycles; shared entries, ways, cycles; walk cycles (field survey 2.3, spec 4)
    "mgpusim_r9_nano_tlb": (256, 64, 1, 1 << 20, 64, None, 100),
    "mgpusim_mi300a_tlb": (256, 64, 1, 4096, 64, None, 100),
    "gem5_tlb": (32, 32, 1, 4096, 32, 69, 750),
    "gem5_vega_tlb": (64, 64, 2, None, None, None, 105),
    "shadow_update": (32, 32, 1, 512, 16, 10, 400),
    "awma": (32, 32, 10, 768, 16, 80, None),
    "v100_tlb": (32, 32, 10, 768, 16, 80, 400),
    "h100_tlb": (32, 32, 10, 768, 16, 80, 400),
    "mi300x_tlb": (256, 64, 1, 4096, 64, None, 100),
    "patent_translation": (None, None, 1, None, None, 12, 2400),
    "patent_pilot": (32, 0, 1, 256, None, 12, 2400),
}
FIGURES = ("private_entries", "private_ways", "private_cycles", "shared_entries", "shared_ways", "shared_cycles")


def test_there_are_the_presets_that_the_field_has():
    assert set(preset_names(TranslationMachine)) == set(SAID)
    assert not set(SAID) & set(preset_names(Machine)), "a preset's name says which kind of machine it is"


@pytest.mark.parametrize("name", SAID)
def test_a_figure_is_the_sources_or_is_marked_as_an_assumption(name):
    result, machine = preset(name), preset(name).machine()
    for figure, message in zip(FIGURES, SAID[name]):
        assumed = result.figures[figure].mark == "assumption"
        assert assumed if message is None else (getattr(machine, figure), assumed) == (message, False)
    walk = SAID[name][-1]
    assert machine.walk_cycles == walk if walk else result.figures["level_cycles"].mark == "assumption"


def test_a_sweep_names_one_and_changes_a_figure():
    changed = TranslationMachine.read({"preset": "awma", "walkers": 8})
    assert (changed.page_bytes, changed.walkers, changed.walk_queue) == (65536, 8, 32)
    with pytest.raises(ValueError, match="unknown machine preset 'awma'"):
        read_machine("awma")
