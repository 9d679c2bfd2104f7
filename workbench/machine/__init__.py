"""Frozen descriptions of hardware, each figure of a preset with its source."""

from workbench.machine.board import Board, Card, Link
from workbench.machine.machine import Machine, Resource, presets_table, read_machine
from workbench.machine.network import Network
from workbench.machine.node import NodeMachine
from workbench.machine.paths import Paths, best_paths
from workbench.machine.power import ClassPower, Heat, NoHeat, NoPower, Power, RcHeat
from workbench.machine.presets import (
    Described,
    Figure,
    Preset,
    preset,
    preset_for_device,
    presets,
    presets_holding,
    unreadable_presets,
)
from workbench.machine.translation import TranslationMachine

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
