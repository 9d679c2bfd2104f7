"""Choices that go by what cards are called: who may be named, and what moves when a card leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.junk import refusal
from tests.slow import examples
from workbench.policies.pool import Bind, ConsistentHashing, Preferred

IDS = st.lists(
    st.sampled_from([f"{kind}{k}" for kind in ("gpu", "cpu", "a") for k in range(8)]), min_size=2, unique=True
)


@examples(20, 300)
@given(IDS, st.lists(st.integers(1, 1 << 45), min_size=1, max_size=20), st.data())
def test_a_card_that_leaves_moves_what_lay_on_it_and_nothing_else(ids, sizes, data):
    gone = data.draw(st.sampled_from(ids))
    cards = [(name, 1 << 50, 16.0) for name in ids]
    left = [card for card in cards if card[0] != gone]
    full = [(name, 0 if name == gone else free, gbps) for name, free, gbps in cards]
    for size in sizes:
        before = ConsistentHashing().choose(size, cards)
        after = ConsistentHashing().choose(size, left)
        assert after == ConsistentHashing().choose(size, full), "a full card is a card that is away"
        assert after == before or before == gone


def test_sizes_are_spread_over_the_cards():
    cards = [(f"gpu{k}", 1 << 50, 16.0) for k in range(8)]
    lent = [ConsistentHashing().choose(512 * size, cards) for size in range(1, 801)]
    assert 70 <= min(lent.count(name) for name, _, _ in cards) <= max(lent.count(name) for name, _, _ in cards) <= 130


@pytest.mark.parametrize("policy", [Bind, Preferred])
@pytest.mark.parametrize("cards", ["gpu0  gpu1", "gpu0 gpu0", " gpu0"])
def test_names_that_make_no_sense_are_refused(policy, cards):
    assert "must name different cards with a space between them" in refusal(policy, cards=cards)


@pytest.mark.parametrize("policy", [Bind, Preferred])
def test_a_card_that_is_not_shown_is_refused(policy):
    assert refusal(policy(cards="gpu1 gpu9").choose, 20, [("gpu1", 90, 24)]) == (
        f"{policy.__name__.lower()}.cards: unknown card 'gpu9'; there are gpu1. Did you mean gpu1?"
    )
