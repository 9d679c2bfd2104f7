"""What each design promises of its points, counted out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.experiments.designs import Axis, Design, LatinHypercube, Morris, Random, Saltelli, Sobol
from workbench.experiments.designs.design import sobol_points


def axes(count: int) -> list[Axis]:
    return [Axis(f"x{k}", "number", 0, 1) for k in range(count)]


EVERY = [Random(points=9), LatinHypercube(points=9), Sobol(points=8), Saltelli(base=4), Morris(trajectories=3)]


@pytest.mark.parametrize("design", EVERY, ids=lambda design: design.name)
def test_the_same_design_draws_the_same_whenever_it_is_asked_and_another_seed_draws_another(design):
    state = np.random.get_state()[1].tolist()  # noqa: NPY002 - is to stay as it is
    first, again, other = (one.ranks(axes(3)) for one in (design, design, design.but(seed=1)))
    assert (first == again).all()
    assert (first != other).any()
    assert first.shape[1] == 3
    assert ((first >= 0) & (first <= 1)).all()
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


@given(points=st.integers(1, 60), seed=st.integers(0, 9), within=st.sampled_from(["random", "centre"]))
def test_a_latin_hypercube_has_one_point_in_each_part_of_each_range(points, seed, within):
    result = LatinHypercube(points=points, seed=seed, within=within).ranks(axes(3))
    parts = np.sort(np.floor(result * points), axis=0)
    assert (parts == np.arange(points)[:, None]).all()
    if within == "centre":
        assert result * points % 1 == pytest.approx(0.5, abs=1e-6)


def test_exchanges_spread_a_latin_hypercube_better():
    from scipy.stats import qmc

    plain, improved = (LatinHypercube(points=20, improved=how).ranks(axes(2)) for how in ("no", "random_cd"))
    assert qmc.discrepancy(improved) < qmc.discrepancy(plain)


@given(power=st.integers(0, 7), seed=st.integers(0, 9), scrambling=st.sampled_from(["matrix_and_shift", "none"]))
def test_every_power_of_two_of_sobol_points_is_even_over_each_range(power, seed, scrambling):
    points = 1 << power
    result = Sobol(points=points, seed=seed, scrambling=scrambling).ranks(axes(4))
    assert (np.sort(np.floor(result * points), axis=0) == np.arange(points)[:, None]).all()


@pytest.mark.parametrize("scrambling", ["matrix_and_shift", "none"])
def test_the_first_two_ranges_of_sobol_points_are_even_in_every_elementary_box(scrambling):
    result = Sobol(points=64, seed=5, scrambling=scrambling).ranks(axes(2))
    for across in range(7):
        boxes = np.floor(result * [1 << across, 1 << (6 - across)])
        assert len(np.unique(boxes, axis=0)) == 64


@pytest.mark.parametrize(
    ("small", "large"),
    [
        (Random(points=9), Random(points=30)),
        (Sobol(points=8), Sobol(points=32)),
        (Morris(trajectories=3), Morris(trajectories=9)),
        (Saltelli(base=4), Saltelli(base=16)),
    ],
    ids=lambda design: design.short(),
)
def test_a_larger_design_begins_with_the_smaller_one(small, large):
    first = small.ranks(axes(3))
    assert (large.ranks(axes(3))[: len(first)] == first).all()


def test_a_further_range_leaves_the_random_values_of_the_others():
    few, more = axes(2), [Axis("new", "number", 0, 1), *axes(2)]
    assert (Random(points=20).ranks(few) == Random(points=20).ranks(more)[:, 1:]).all()


def test_two_ranges_at_one_path_are_two_ranges():
    twice = Random(points=20).ranks([Axis("x", "number", 0, 1), Axis("x", "number", 0, 1)])
    assert (twice[:, 0] != twice[:, 1]).all()


@pytest.mark.parametrize("second_order", [True, False])
def test_saltelli_has_the_rows_of_salib_in_its_order(second_order):
    wide, base = 3, 8
    problem = {"num_vars": wide, "names": list("abc"), "bounds": [[0, 1]] * wide}
    from SALib.sample import sobol as salib_sobol

    theirs = salib_sobol.sample(problem, base, calc_second_order=second_order, scramble=False, skip_values=0)
    ours = Saltelli(base=base, second_order=second_order, scrambling="none").ranks(axes(wide))
    assert (ours == theirs).all()
    both = sobol_points(2 * wide, base, "none", 0, "")
    assert (ours[:: len(ours) // base] == both[:, :wide]).all()


def test_a_walk_of_morris_moves_every_lever_once_by_the_same_share():
    result = Morris(trajectories=12, levels=6).ranks(axes(4)).reshape(12, 5, 4)
    moves = np.diff(result, axis=1)
    assert ((np.abs(moves) > 1e-9).sum(axis=1) == 1).all()
    assert ((np.abs(moves) > 1e-9).sum(axis=2) == 1).all()
    assert np.abs(moves).sum(axis=1) == pytest.approx(6 / (2 * 5))
    assert result * 5 == pytest.approx(np.rint(result * 5), abs=1e-9)


def test_the_ends_of_a_range_are_levels_of_morris():
    result = Morris(trajectories=40).rows([Axis("k", "integer", 1, 64)])
    assert {value for (value,) in result} == {1, 22, 43, 64}


@pytest.mark.parametrize(
    ("given_", "sentence"),
    [
        (
            {"sobol": {"points": 48}},
            "design.sobol.points must be a power of two from 1 to 1048576. Got 48. Nearest: 64.",
        ),
        ({"latin_hypercub": {}}, "design: unknown design 'latin_hypercub'; there are latin_hypercube, morris, random"),
        ({"morris": {"levels": 5}}, "design.morris.levels must be even. Got 5. Nearest: 4."),
        ({"sobol": {"scrambling": "owen"}}, "scrambling must be one of matrix_and_shift, none. Got 'owen'."),
        (7, "design must name one design, such as {latin_hypercube: {points: 64, seed: 1}}. Got 7."),
    ],
)
def test_a_design_that_is_not_valid_is_one_sentence(given_, sentence):
    with pytest.raises(InputError) as refused:
        Design.read(given_, "design", "s.yaml")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
