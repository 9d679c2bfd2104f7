"""Presets of whole nodes: made of presets of boards, cards and translation, whose figures have their sources."""

from __future__ import annotations

import pytest

from workbench.errors import InputError
from workbench.machine import Board, Machine, NodeMachine, TranslationMachine, preset, presets_table
from workbench.machine.presets import MARKS, preset_names

NODES = {"dgx_1v": (8, 80, 32), "dgx_h100": (8, 132, 32), "mi300x": (8, 304, 64)}
"""GPUs, modules of a GPU, threads of a wave."""


def node_of(name: str) -> NodeMachine:
    """Return the node of a preset."""
    return NodeMachine.read(name)


def test_these_nodes_have_presets() -> None:
    found = {name: node_of(name) for name in preset_names(NodeMachine)}
    assert {name: (len(it.gpus), it.card.compute_units, it.card.wave_size) for name, it in found.items()} == NODES


@pytest.mark.parametrize("name", NODES)
def test_a_node_is_made_of_the_presets_that_it_names(name: str) -> None:
    figures = preset(name, NodeMachine).figures
    node = node_of(name)
    for part, kind in (("board", Board), ("card", Machine), ("translation", TranslationMachine)):
        inner = preset(figures[part].value, kind)
        assert inner.machine() == getattr(node, part)
        assert all(figure.mark in MARKS and len(figure.source) > 10 for figure in inner.figures.values())


@pytest.mark.parametrize("name", NODES)
def test_all_of_a_node_counts_in_one_clock_and_has_modules_for_cores(name: str) -> None:
    node = node_of(name)
    assert node.card.clock_mhz == node.translation.clock_mhz
    assert (node.card.wave_size, node.card.compute_units) == (node.translation.wave_size, node.translation.cores)


def test_a_board_and_a_node_of_one_name_are_told_apart() -> None:
    assert (preset("dgx_1v").of, preset("mi300x").of) == (Board, Machine)
    assert preset("node_machine/dgx_1v") == preset("dgx_1v", NodeMachine)
    assert [row["value"] for row in presets_table("node_machine/dgx_1v")] == ["dgx_1v", "v100", "v100_tlb"]
    with pytest.raises(InputError, match="Did you mean node_machine/dgx_1v"):
        preset("node_machine/dgx_1w")


def test_levers_replace_figures_of_a_node() -> None:
    node = NodeMachine.read({"preset": "dgx_1v", "translation": {"preset": "v100_tlb", "walkers": 4}})
    assert (node.translation.walkers, node.translation.shared_entries) == (4, 768)
    assert node.board == Board.read("dgx_1v")


def test_a_node_has_64_cards_at_most():
    expected = "node_machine.board must have at most 64 cards; the engine pool takes more. Got 108."
    with pytest.raises(InputError) as refused:
        NodeMachine(board=Board.read("gb200_nvl72"))
    assert str(refused.value) == expected
