"""A board: paths against every path written out, the document's figures by number, and what is refused."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.oracles.pool_paths import best_path, sum_of_paths
from tests.slow import examples
from workbench.errors import InputError
from workbench.machine import Board, Card, Link, best_paths, preset, presets_table


@st.composite
def direct_tables(draw):
    count = draw(st.integers(2, 6))
    table = np.zeros((count, count))
    for one in range(count):
        for other in range(one):
            table[one, other] = table[other, one] = draw(st.sampled_from([0.0, 0.0, 12.0, 16.0, 25.0, 50.0]))
    return table


@examples(13, 200)
@given(direct_tables(), st.integers(1, 5), st.sampled_from(["bottleneck", "hop_penalised", "direct_only"]))
def test_the_best_path_is_the_best_of_all_paths(direct, most, metric):
    paths = best_paths(direct, metric, most, 0.5)
    for one in range(len(direct)):
        for other in range(len(direct)):
            if one != other:
                hops = 1 if metric == "direct_only" else most
                score, path = best_path(direct, one, other, hops, 0.5 if metric == "hop_penalised" else 1.0)
                assert (paths.gbps[one, other], paths.routes[one][other]) == (score, path)
                assert paths.hops[one, other] == len(path) - 1


@examples(8, 100)
@given(direct_tables())
def test_disjoint_paths_together_carry_no_less_than_the_widest_and_no_more_than_leaves_a_card(direct):
    together, widest = best_paths(direct, "sum_of_paths"), best_paths(direct, "bottleneck")
    apart = ~np.eye(len(direct), dtype=bool)
    for one, other in np.argwhere(apart).tolist():
        assert together.gbps[one, other] == sum_of_paths(direct.tolist(), one, other, 8)
    leaves = np.minimum(direct.sum(axis=1)[:, None], direct.sum(axis=0)[None, :])
    assert (together.gbps >= widest.gbps)[apart].all()
    assert (together.gbps <= leaves)[apart].all()
    assert together.routes == widest.routes


def test_v1_free_memory():
    board = preset("figure_1").machine()
    assert [board.cards[board.index(name)].free_bytes for name in ("cpu0", "gpu3")] == [52 * 10**9, 208 * 10**9]


def test_v8_a_path_is_as_wide_as_its_narrowest_link():
    paths = preset("table_300").machine().paths("bottleneck")
    assert (paths.gbps[0, 2], paths.routes[0][2]) == (12.0, (0, 1, 2))


def test_e8_by_default_a_further_link_halves_what_a_path_is_worth():
    paths = preset("table_300").machine().paths()
    assert (paths.gbps[0, 2], paths.bottleneck_gbps[0, 2], paths.routes[0][2]) == (6.0, 12.0, (0, 1, 2))


def test_v9_parallel_links_add_up():
    cards = (Card(id="gpu0"), Card(id="gpu1"))
    one = Board(cards=cards, links=(Link(between="gpu0 gpu1", gbps=25, count=2),))
    two = Board(cards=cards, links=(Link(between="gpu0 gpu1", gbps=25), Link(between="gpu1 gpu0", gbps=25)))
    assert one.direct_gbps()[0, 1] == two.direct_gbps()[0, 1] == 50.0


def test_v11_the_paths_of_figure_1():
    board = preset("figure_1").machine()
    at = {name: board.index(name) for name in board.ids}
    paths = board.paths("bottleneck")

    def path(one, other):
        return paths.gbps[at[one], at[other]], [board.ids[k] for k in paths.routes[at[one]][at[other]]]

    assert path("cpu0", "gpu0") == (16.0, ["cpu0", "gpu0"])
    gbps, through = path("gpu0", "cpu1")
    assert (gbps, len(through) - 1) == (16.0, 2)
    assert path("gpu3", "gpu6") == (150.0, ["gpu3", "gpu0", "gpu6"])


def test_dgx_1v_is_a_hybrid_cube_mesh():
    board = preset("dgx_1v").machine()
    gpus = [k for k, card in enumerate(board.cards) if card.kind == "gpu"]
    counts = (board.direct_gbps()[np.ix_(gpus, gpus)] / 25).astype(int)
    pairs = counts[np.triu_indices(8, 1)]
    assert (counts == counts.T).all()
    assert counts.sum(axis=1).tolist() == [6] * 8
    assert [(pairs == times).sum() for times in (2, 1, 0)] == [8, 8, 12]
    assert pairs.sum() == 24
    assert counts[:4, 4:].sum() == 6


def test_a_presets_figures_are_shown_in_plain_types():
    rows = presets_table("table_300")
    assert rows[0]["value"][0] == {"card": {**preset("table_300").machine().cards[0].plain()}}
    assert Board.read({"cards": rows[0]["value"], "links": rows[1]["value"]}) == preset("table_300").machine()


GPUS = [{"id": "gpu0"}, {"id": "gpu1"}]


@pytest.mark.parametrize(
    ("levers", "says"),
    [
        ({"cards": []}, r"machine.cards must have 1 to 256 cards. Got 0."),
        ({"cards": [{"id": "gpu0"}] * 2, "links": []}, r"two cards of the id gpu0"),
        ({"cards": GPUS, "links": []}, r"not connected: no links lead from gpu0 to gpu1."),
        ({"cards": GPUS, "links": [{"between": "gpu0 gpu7", "gbps": 1}]}, r"unknown card 'gpu7'"),
        ({"cards": GPUS, "links": [{"between": "gpu0 gpu1", "gbps": 0}]}, r"gbps must be a number from 0.001"),
        ({"cards": GPUS, "links": [{"between": "gpu0", "gbps": 1}]}, r"must name two different cards"),
        ({"cards": GPUS, "links": [{"between": "gpu0 gpu1", "gbps": 1, "kind": "bus"}]}, r"kind must be one of pcie"),
        ({"cards": [{"id": "a", "kind": "switch"}], "links": []}, r"a switch has no memory"),
        ({"cards": [{"id": "a", "memory_bytes": 0}], "links": []}, r"must have a card with memory"),
        ({"cards": [{"id": "a", "memory_bytes": 1, "used_bytes": 2}], "links": []}, r"at most memory_bytes"),
    ],
)
def test_a_board_that_makes_no_sense_is_refused_in_one_sentence(levers, says):
    assert re.search(says, refusal(Board.read, levers, "machine", "pool.yaml"))


def test_two_channels_of_one_pair_are_refused():
    links = (Link(between="gpu0 gpu1", gbps=1, channel="a"), Link(between="gpu1 gpu0", gbps=1, channel="b"))
    with pytest.raises(InputError, match="must have the same channel"):
        Board(cards=(Card(id="gpu0"), Card(id="gpu1")), links=links)


def test_a_rack_of_72_gpus_is_a_board():
    rack = Board.read({"preset": "gb200_nvl72", "widths": "paper"})
    row = rack.row()
    assert (row["gpus"], row["cpus"], row["fastest_gbps"]) == (72, 36, 900.0)
    assert rack.paths().gbps[36, 107] == 900.0


def test_a_table_of_72_gpus_is_a_board(tmp_path):
    names = [f"GPU{k}" for k in range(72)]
    rows = [[name, *("X" if name == other else "NV18" for other in names)] for name in names]
    (tmp_path / "topo.txt").write_text("\n".join("\t".join(row) for row in [["", *names], *rows]) + "\n")
    assert Board.read({"topology": str(tmp_path / "topo.txt")}).row()["gpus"] == 72


def test_a_board_has_256_cards_at_most():
    def chain(count):
        links = [Link(between=f"c{k} c{k + 1}", gbps=1) for k in range(count - 1)]
        return {"cards": [Card(id=f"c{k}") for k in range(count)], "links": links}

    assert len(Board(**chain(256)).ids) == 256
    assert refusal(Board, **chain(257)) == "board.cards must have 1 to 256 cards. Got 257."
