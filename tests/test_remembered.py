"""What functions of the package's specs remember, and what they never do."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever, remembered
from workbench.levers.remembered import KEPT
from workbench.machine import Board, Machine
from workbench.machine.board import CardsAlike
from workbench.policies.placement import FirstFit, NearestBoundary
from workbench.policies.placement.question import Placement


def counting():
    """A function of specs that notes its requests."""
    requests = []

    @remembered
    def of(*args):
        requests.append(args)
        return len(requests)

    return of, requests


def test_equal_specs_are_computed_once_whatever_objects_they_are():
    of, requests = counting()
    assert of(Machine(segments=64)) == of(Machine(segments=64)) == 1
    assert of(Machine(segments=32)) == 2
    assert of((FirstFit(), Machine()), 3) == of((FirstFit(), Machine()), 3) == 3
    assert len(requests) == 3


class OwnBoard(Board):
    """A board of a user's, whose code may change between two runs."""


class OwnPlacement(Placement):
    """A policy of a user's."""

    shift: int = lever(0, least=0, most=8, description="how far")

    @staticmethod
    def answer(see):
        return 0


def test_what_is_a_user_s_or_holds_it_is_computed_anew():
    of, _ = counting()
    for own in (OwnBoard(), OwnPlacement(), (FirstFit(), (OwnPlacement(),))):
        assert of(own) < of(own)


def test_the_oldest_is_forgotten():
    of, requests = counting()
    for segments in range(2, 3 + KEPT):
        of(segments)
    assert len(requests) == 1 + KEPT
    of(2 + KEPT)
    assert len(requests) == 1 + KEPT
    of(2)
    assert len(requests) == 2 + KEPT


def test_a_board_finds_its_paths_once_and_another_one_finds_its_own():
    board, alike = (Board.read(CardsAlike(cards=4).node()["board"]) for _ in range(2))
    assert board.paths() is alike.paths()
    assert board.paths() is not board.paths("direct_only")
    slower = Board.read(CardsAlike(cards=4, link_gbps=75.0).node()["board"])
    assert np.array_equal(2 * slower.paths().gbps, board.paths().gbps)


def test_specs_are_equal_by_class_and_levers():
    assert NearestBoundary() == NearestBoundary() != NearestBoundary(tie="high")
    assert hash(NearestBoundary()) == hash(NearestBoundary())
    assert NearestBoundary() != FirstFit()
