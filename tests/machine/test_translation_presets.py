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
    "k80_tlb": (16, None, None, 1032, 8, 55, 172),
    "p100_tlb": (16, None, None, None, None, 8, None),
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


MIB = 1 << 20
REACHES = {  # bytes of an entry: level 1, middle level, shared level
    "k80_tlb": (MIB >> 3, 2 * MIB, 2 * MIB),
    "p100_tlb": (2 * MIB, None, 2 * MIB),
    "v100_tlb": (2 * MIB, None, 2 * MIB),
    "h100_tlb": (2 * MIB, None, 2 * MIB),
    "mi300x_tlb": (2 * MIB, None, 2 * MIB),
}


@pytest.mark.parametrize("name", REACHES)
def test_entries_of_cards_cover_two_mebibytes_and_say_whether_that_was_measured(name):
    machine, mark = preset(name).machine(), preset(name).figures["page_bytes"].mark
    middle = machine.page_bytes * machine.middle_pages if machine.middle_entries else None
    assert (machine.page_bytes, middle, machine.page_bytes * machine.shared_pages) == REACHES[name]
    assert mark == ("measured" if name in ("k80_tlb", "p100_tlb") else "assumption")


def test_the_groups_of_the_k80_are_those_of_its_table_of_sharing():
    machine = preset("k80_tlb").machine()
    assert machine.groups == ((0, 5), (1, 6), (2, 7, 10), (3, 8, 11), (4, 9, 12))
    assert (machine.middle_entries, machine.middle_cycles) == (71, 9)
    measured = [figure for figure in preset("k80_tlb").figures.values() if figure.mark == "measured"]
    assert len(measured) == 11
    assert all("gcoe-dresden/cuda-gpu-tlb @ 6c9edc6f8065" in figure.source for figure in measured)


def test_a_sweep_names_one_and_changes_a_figure():
    changed = TranslationMachine.read({"preset": "awma", "walkers": 8})
    assert (changed.page_bytes, changed.walkers, changed.walk_queue) == (65536, 8, 32)
    with pytest.raises(ValueError, match="there is no preset 'awma'"):
        read_machine("awma")
