"""Matrices of peer bandwidth: what is read, what is fitted on GPU 0's row, which laws a made-up world confirms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.machine import Board
from workbench.validation import validate as module
from workbench.validation.data_set import DataSet, Result
from workbench.validation.links import SETS

SET: DataSet = SETS[0]
SQUARE = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
"""Four cards in a ring."""


def matrix(title: str, values: np.ndarray) -> str:
    rows = [f"{k:6d} " + " ".join(f"{cell:6.2f}" for cell in row) for k, row in enumerate(values)]
    return "\n".join([f"{title} Matrix (GB/s)", "   D\\D " + " ".join(map(str, range(len(values)))), *rows, ""])


def output(
    one: np.ndarray,
    both: np.ndarray | None = None,
    access: list[list[int]] | None = None,
    card: str = "Tesla P100-SXM2",
) -> str:
    """What the program prints of these bandwidths."""
    text = "\n".join(f"Device: {k}, {card}, pciBusID: {k}" for k in range(len(one))) + "\n\n"
    if access is not None:
        peers = np.array(access) + np.eye(len(access), dtype=int)
        rows = [f"{k:6d}\t" + " ".join(f"{cell:5d}" for cell in row) for k, row in enumerate(peers)]
        text += "\n".join(["P2P Connectivity Matrix", "     D\\D " + " ".join(map(str, range(len(one)))), *rows, ""])
    text += matrix("Unidirectional P2P=Disabled Bandwidth", np.full(one.shape, 7.0))
    text += matrix("Unidirectional P2P=Enabled Bandwidth (P2P Writes)", one)
    return text + (matrix("Bidirectional P2P=Enabled Bandwidth", both) if both is not None else "")


def world(link: float, beyond: float, ring: list[list[int]] = SQUARE) -> np.ndarray:
    table = np.where(np.array(ring) > 0, link * np.array(ring), beyond).astype(float)
    np.fill_diagonal(table, 500.0)
    return table


def results(tmp_path: Path, text: str, **beside: str) -> dict[str, Result]:
    (tmp_path / "machine.txt").write_text(text)
    for name, content in beside.items():
        (tmp_path / f"{name}.txt").write_text(content)
    facts = SET.extract(sorted(tmp_path.iterdir()))
    return {one.law: one for one in SET.judge(facts, SET.fit(facts))}


def test_a_world_of_halved_paths_confirms_the_penalty_and_refutes_the_widest_path(tmp_path: Path) -> None:
    laws = results(tmp_path, output(world(18.0, 9.0), 2 * world(18.0, 9.0), SQUARE))
    halved, widest = laws["hop_penalised, link fitted"], laws["bottleneck, link fitted"]
    assert halved.fitted == {"link_gbps": 18.0} == widest.fitted
    assert (halved.verdict, halved.error, halved.points, halved.r2) == ("confirmed", 0.0, 9, 1.0)
    assert (widest.verdict, widest.error) == ("refuted", pytest.approx(100 * 3 / 9))
    on_paper = laws["hop_penalised, paper widths"]
    assert (on_paper.error, on_paper.verdict, on_paper.fitted) == (pytest.approx(100 / 9), "refuted", {})
    assert laws["both ways carry twice one way"].verdict == "confirmed"
    assert laws["both ways carry duplex times one way"].fitted == {"link_gbps": 18.0, "duplex": 2.0}


def test_a_world_of_widest_paths_confirms_these(tmp_path: Path) -> None:
    laws = results(tmp_path, output(world(18.0, 18.0), access=SQUARE))
    assert (laws["bottleneck, link fitted"].verdict, laws["hop_penalised, link fitted"].verdict) == (
        "confirmed",
        "refuted",
    )
    both = laws["both ways carry twice one way"]
    assert (both.verdict, both.points, both.curves) == ("not tested", 0, ())


def test_both_ways_of_a_card_that_shares_them(tmp_path: Path) -> None:
    one = world(20.0, 10.0)
    laws = results(tmp_path, output(one, 1.5 * one, SQUARE))
    fitted = laws["both ways carry duplex times one way"]
    assert fitted.fitted["duplex"] == 1.5
    assert laws["both ways carry twice one way"].verdict == "refuted"
    curve = fitted.curves[0]
    assert curve.judged.sum() == 9 and not curve.judged[:3].any()
    linked = curve.measured == 30.0
    assert curve.predicted[linked].tolist() == pytest.approx([30.0] * linked.sum())


@pytest.mark.parametrize("beside", [True, False])
def test_a_dgx_1v_has_the_links_of_its_table_or_of_the_preset(tmp_path: Path, beside: bool) -> None:
    known = Board.read("dgx_1v")
    counts = (known.direct_gbps()[2:, 2:] / 25).round().astype(int)
    table = "\t" + "\t".join(f"GPU{k}" for k in range(8)) + "\n"
    for k, row in enumerate(counts):
        cells = [" X " if k == j else f"NV{n}" if n else "SYS" for j, n in enumerate(row)]
        table += "\t".join([f"GPU{k}", *cells]) + "\n"
    one = known.paths().gbps[2:, 2:] * 24.2 / 25
    np.fill_diagonal(one, 700.0)
    text = output(one, access=(counts > 0).astype(int).tolist(), card="Tesla V100-SXM2-32GB")
    laws = results(tmp_path, text, **({"nvsmi": table} if beside else {}))
    assert laws["hop_penalised, link fitted"].fitted == {"link_gbps": pytest.approx(24.2, abs=0.01)}
    assert laws["hop_penalised, link fitted"].error < 0.5
    assert laws["hop_penalised, paper widths"].error == pytest.approx(100 * (25 / 24.2 - 1), abs=0.1)


@pytest.mark.parametrize(
    ("card", "gbps", "cards", "paper"), [("H100 80GB HBM3", 375.0, 8, 450), ("H100 80GB", 124.0, 4, 150)]
)
def test_a_switch_or_a_full_mesh_is_links_alike(tmp_path: Path, card: str, gbps: float, cards: int, paper: int) -> None:
    laws = results(
        tmp_path,
        output(world(gbps, gbps, np.ones((cards, cards), int).tolist())),
    )
    assert laws["bottleneck, link fitted"].error == 0
    laws = results(tmp_path, output(world(gbps, gbps, np.ones((cards, cards), int).tolist()), card=card))
    assert laws["bottleneck, paper widths"].error == pytest.approx(100 * (paper / gbps - 1))


def test_a_pci_box_is_cards_at_cpus(tmp_path: Path) -> None:
    """Cards 0 and 1 share a switch, 2 and 3 another, at two CPUs; a path of three links is worth a quarter."""
    near = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    one = np.where(near, 12.0, 3.0)
    np.fill_diagonal(one, 500.0)
    labels = [[" X " if i == j else "PIX" if near[i, j] else "SYS" for j in range(4)] for i in range(4)]
    table = "\n".join(
        "\t".join(row)
        for row in [["", *(f"GPU{k}" for k in range(4))], *([f"GPU{k}", *row] for k, row in enumerate(labels))]
    )
    laws = results(tmp_path, output(one, card="NVIDIA A40"), topo=table + "\n")
    law = laws["hop_penalised, link fitted"]
    assert (law.fitted, law.error, law.verdict) == ({"pcie_gbps": 12.0}, 0.0, "confirmed")
    assert laws["bottleneck, link fitted"].verdict == "refuted"
    (tmp_path / "topo.txt").unlink()
    alone = results(tmp_path, output(one, card="NVIDIA A40"))
    assert alone["bottleneck, link fitted"].points == 9, "without a table all cards are at one CPU"


def test_several_machines_have_a_width_each(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(output(world(10.0, 5.0), access=SQUARE))
    laws = results(tmp_path, output(world(18.0, 9.0), access=SQUARE))
    assert laws["hop_penalised, link fitted"].fitted == {"link_gbps of b": 10.0, "link_gbps of machine": 18.0}
    assert (laws["hop_penalised, link fitted"].error, laws["hop_penalised, link fitted"].points) == (0.0, 18)


GOOD = output(world(18.0, 9.0), access=SQUARE)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace("  18.00", "  eight"), "must hold numbers of at least 0. Got 'eight'"),
        (GOOD[:-30], r"row 3 must have its number and 4 values"),
        (GOOD.replace("   9.00", "   0.00"), "every bandwidth must be above 0"),
        (GOOD.replace("   9.00", "   1e99"), "every bandwidth must be above 0 and below 1,000,000 GB/s"),
        (
            output(world(18.0, 9.0), 0 * world(18.0, 9.0), access=SQUARE),
            "Bidirectional P2P=Enabled: every bandwidth must be above 0",
        ),
        (
            GOOD[: GOOD.index("Unidirectional P2P=Enabled")],
            "must hold a matrix `Unidirectional P2P=Enabled ... .GB/s.`",
        ),
        (
            GOOD + output(world(1.0, 1.0, [[0, 1], [1, 0]]), 2 * world(1.0, 1.0, [[0, 1], [1, 0]])),
            "must be of the same cards",
        ),
    ],
)
def test_a_broken_file_is_refused_in_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "machine.txt").write_text(text)
    with pytest.raises(InputError, match=says) as refused:
        SET.extract([tmp_path / "machine.txt"])
    assert str(refused.value).startswith(str(tmp_path)) and "\n" not in str(refused.value)


def test_a_table_of_another_number_of_cards_is_refused(tmp_path: Path) -> None:
    table = "\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n"
    with pytest.raises(InputError, match=r"topo\.txt: has 2 GPUs where the matrix next to it has 4"):
        results(tmp_path, GOOD, topo=table)


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert not len(SET.extract([tmp_path / "notes.txt"]))
    with pytest.raises(InputError, match="holds no file of measurements"):
        module.validate_files(tmp_path, "pool")


def test_the_levers_of_the_package_are_those_of_its_facts() -> None:
    assert module.facts_of(SET).near.value_counts().to_dict() == {"link": 64, "far": 48}
    assert module.levers_of(SET) == SET.fit(module.facts_of(SET))
