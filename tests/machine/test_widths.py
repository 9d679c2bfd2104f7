"""What links carry, measured or on paper: a preset and the topology table of the same machine have one speed."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.junk import refusal
from workbench.machine import Board, Card, Link, NodeMachine, preset
from workbench.machine.link_widths import TYPES_OF_CARD, WIDTHS
from workbench.machine.presets import preset_names

CARD_OF = {
    "dgx_1v": "v100",
    "dgx_a100": "a100",
    "dgx_h100": "h100",
    "gb200_nvl72": "gb200",
    "mi250x_board": "mi250x",
    "mi300x_board": "mi300x",
    "pcie3_x8": "v100",
    "pcie4_x8": "a100",
    "pcie5_x8": "h100",
}
"""A card with the links of each preset."""
HARDWARE = [name for name in preset_names(Board) if preset(name, Board).kind == "hardware"]


def gpus_of(board: Board) -> list[int]:
    return [k for k, card in enumerate(board.cards) if card.kind == "gpu"]


def of_pair(board: Board, one: int, other: int) -> list[Link]:
    return _by_ends(board).get(frozenset((board.ids[one], board.ids[other])), [])


@cache
def _by_ends(board: Board) -> dict[frozenset[str], list[Link]]:
    match: dict[frozenset[str], list[Link]] = {}
    for link in board.links:
        match.setdefault(frozenset(link.ends), []).append(link)
    return match


def table_of(board: Board) -> str:
    """The topology of a board as `nvidia-smi topo -m` prints it, or as AMD's tools do: links and CPUs, no speed."""
    gpus = gpus_of(board)
    home = {
        gpu: next(k for k, it in enumerate(board.cards) if it.kind == "cpu" and of_pair(board, gpu, k)) for gpu in gpus
    }
    if any(link.kind == "xgmi" and "gpu" in link.between for link in board.links):
        return amd_table_of(board, gpus, home)

    def label(one: int, other: int) -> str:
        links = of_pair(board, one, other)
        count = sum(link.count for link in links if link.kind == "nvlink")
        return f"NV{count}" if count else "PIX" if links else "NODE" if home[one] == home[other] else "SYS"

    names = [f"GPU{k}" for k in range(len(gpus))]
    rows = [[" X " if one == other else label(one, other) for other in gpus] for one in gpus]
    on_module = all(link.kind == "nvlink" for gpu in gpus for link in of_pair(board, gpu, home[gpu]))
    cpus = sorted(set(home.values())) if on_module else []
    rows = [row + ["C2C" if home[gpu] == cpu else "SYS" for cpu in cpus] for row, gpu in zip(rows, gpus, strict=True)]
    rows += [
        ["C2C" if home[gpu] == cpu else "SYS" for gpu in gpus] + [" X " if it == cpu else "SYS" for it in cpus]
        for cpu in cpus
    ]
    names += [f"NIC{k}" for k in range(len(cpus))]
    ends = [str(home[gpu]) for gpu in gpus] + [""] * len(cpus)
    lines = [["", *names, "CPU Affinity"]] + [
        [name, *row, end] for name, row, end in zip(names, rows, ends, strict=True)
    ]
    return "\n".join("\t".join(line) for line in lines) + "\n"


def amd_table_of(board: Board, gpus: list[int], home: dict[int, int]) -> str:
    """`rocm-smi --showtopo --json`; where links differ in number `amd-smi topology --json`, which has paper speeds."""
    linked = {(i, j): of_pair(board, one, other) for (i, one), (j, other) in combinations(enumerate(gpus), 2)}
    if {sum(link.count for link in links) for links in linked.values()} != {1}:
        entries = []
        for i in range(len(gpus)):
            links = []
            for j in range(len(gpus)):
                match = linked.get((min(i, j), max(i, j)), [])
                count, wide = sum(link.count for link in match), 1000 * WIDTHS["xgmi_mi200"].paper_gbps
                speed = f"{wide:.0f}-{count * wide:.0f}" if count else "N/A"
                kind = "SELF" if i == j else "XGMI" if count else "PCIE"
                hops = 0 if i == j else 1 if count else 2 if home[gpus[i]] == home[gpus[j]] else 3
                links.append({"gpu": j, "link_type": kind, "num_hops": hops, "bandwidth": speed})
            entries.append({"gpu": i, "links": links})
        return json.dumps(entries)
    text = {f"(Topology) Link type between DRM devices {i} and {j}": "XGMI" for i, j in linked}
    text |= {f"(Topology) Hops between DRM devices {i} and {j}": "1" for i, j in linked}
    return json.dumps(
        {"system": text} | {f"card{i}": {"(Topology) Numa Node": str(home[gpu])} for i, gpu in enumerate(gpus)}
    )


def read(folder: Path, text: str, **levers: object) -> Board:
    (folder / "topo.txt").write_text(text)
    return Board.read({"topology": str(folder / "topo.txt"), **levers})


@pytest.mark.parametrize("widths", ["measured", "paper"])
@pytest.mark.parametrize("name", HARDWARE)
def test_a_preset_and_its_own_table_have_one_speed(name: str, widths: str, tmp_path: Path) -> None:
    known = Board.read({"preset": name, "widths": widths})
    match = read(tmp_path, table_of(known), card=CARD_OF[name], widths=widths)
    speeds = []
    for board in (known, match):
        gpus, direct = gpus_of(board), board.direct_gbps()
        cpus = [k for k in range(len(board.cards)) if k not in gpus]
        between = {(link.kind, link.gbps, link.duplex) for link in board.links if "cpu" not in link.between}
        up = direct[np.ix_(gpus, cpus)].max(axis=1)
        speeds.append(
            (direct[np.ix_(gpus, gpus)].tolist(), up.tolist(), [board.cards[k].port_gbps for k in gpus], between)
        )
    assert speeds[0] == speeds[1]


def test_every_preset_of_hardware_names_types_that_its_links_have_on_paper() -> None:
    assert set(CARD_OF) == set(HARDWARE)
    for name in HARDWARE:
        types = preset(name, Board).figures["link_types"].value.split()
        assert types == [it for it in TYPES_OF_CARD[CARD_OF[name].upper()] if it in types] or name == "gb200_nvl72"
        on_paper = {(link.kind, link.gbps) for link in Board.read({"preset": name, "widths": "paper"}).links}
        assert {(WIDTHS[it].kind, WIDTHS[it].paper_gbps) for it in types} <= on_paper, "a type that no link has"
        assert {link.duplex for link in Board.read({"preset": name, "widths": "paper"}).links} == {2.0}
        measured = preset(name, Board).figures["link_types"].mark == "measured"
        assert measured == any(WIDTHS[it].mark == "measured" for it in types)


@pytest.mark.parametrize(("widths", "eighteen", "six"), [("measured", 370.8, 123.6), ("paper", 450.0, 150.0)])
def test_the_links_of_h100(widths: str, eighteen: float, six: float, tmp_path: Path) -> None:
    assert Board.read({"preset": "dgx_h100", "widths": widths}).direct_gbps()[2, 3] == pytest.approx(eighteen)
    four = [f"GPU{k}" for k in range(4)]
    rows = ["\t".join([name, *(" X " if it == name else "NV6" for it in four)]) for name in four]
    board = read(tmp_path, "\n".join(["\t" + "\t".join(four), *rows]) + "\n", card="h100", widths=widths)
    assert board.direct_gbps()[1, 2] == pytest.approx(six)


def test_presets_are_measured_unless_they_are_asked_for_on_paper() -> None:
    assert Board.read("dgx_a100") == Board.read({"preset": "dgx_a100", "widths": "measured"})
    assert Board.read({"preset": "figure_1", "widths": "paper"}) == Board.read("figure_1")
    board = Board.read("dgx_a100")
    assert {(link.gbps, link.count, link.duplex) for link in board.links if link.kind == "nvlink"} == {
        (22.75, 12, 1.54)
    }
    assert {card.port_gbps for card in board.cards} == {273.0, 0.0}
    node = NodeMachine.read({"preset": "dgx_h100", "board": {"preset": "dgx_h100", "widths": "paper"}})
    assert node.board.direct_gbps()[2, 3] == 450


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"preset": "dgx_h100", "widths": "printed"}, r"machine.widths must be one of measured, paper. Got 'printed'"),
        ({"widths": "paper"}, r"machine.widths must stand beside a preset or a topology file"),
        ({"preset": "dgx_h1000", "widths": "paper"}, r"there is no preset 'dgx_h1000'"),
    ],
)
def test_widths_that_make_no_sense_are_refused(given: dict[str, object], says: str) -> None:
    assert re.search(says, refusal(Board.read, given, "machine", "pool.yaml"))


def test_a_preset_of_an_unknown_type_of_links_is_refused() -> None:
    figures = {
        "cards": (Card(id="a"), Card(id="b")),
        "links": (Link(between="a b", gbps=25),),
        "link_types": "nvlink44",
    }
    assert "unknown type of links 'nvlink44'" in refusal(Board.of_figures, figures)
