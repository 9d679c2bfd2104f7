"""Frozen descriptions of hardware, each figure of a preset with its source."""

from workbench.machine.board import Board
from workbench.machine.card import Card
from workbench.machine.described import Described
from workbench.machine.heat import Heat, NoHeat, RcHeat
from workbench.machine.link import Link
from workbench.machine.machine import Machine
from workbench.machine.network import Network
from workbench.machine.node_machine import NodeMachine
from workbench.machine.paths import Paths, best_paths
from workbench.machine.power import ClassPower, NoPower, Power
from workbench.machine.preset import (
    Figure,
    Preset,
    preset,
    preset_for_device,
    presets,
    presets_holding,
    unreadable_presets,
)
from workbench.machine.read import presets_table, read_machine
from workbench.machine.resource import Resource
from workbench.machine.translation_machine import TranslationMachine

__all__ = [
    "Board",
    "Card",
    "ClassPower",
    "Described",
    "Figure",
    "Heat",
    "Link",
    "Machine",
    "Network",
    "NoHeat",
    "NoPower",
    "NodeMachine",
    "Paths",
    "Power",
    "Preset",
    "RcHeat",
    "Resource",
    "TranslationMachine",
    "best_paths",
    "preset",
    "preset_for_device",
    "presets",
    "presets_holding",
    "presets_table",
    "read_machine",
    "unreadable_presets",
]
