"""The worked examples of spec 5, section 4, that ask a policy, by number."""

import pytest

from tests.junk import refusal
from workbench.policies.pool import (
    BandwidthThenMostFree,
    BestFit,
    LeastBorrowed,
    LeastRecentlyUsed,
    MaxBandwidth,
    MostFree,
    SmallestSufficient,
    WeightedCards,
    best_fit_split,
)

CARDS = [("cpu0", 52, 16), ("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu5", 200, 16), ("gpu6", 60, 150)]
HISTORY = {"gpu6": 3, "gpu3": 1}


def test_v2_an_exact_block_is_taken_as_it_is():
    assert best_fit_split([32, 64, 96, 128], 64) == (64, 0)


def test_v3_the_smallest_larger_block_is_split():
    assert best_fit_split([32, 96, 128], 64) == (96, 32)


def test_v4_no_block_is_large_enough():
    assert best_fit_split([32, 48], 64) is None


def test_v5_the_lowest_address_wins_a_tie():
    assert BestFit().take([128, 96, 96], 64) == 1


def test_v10_only_the_fast_path_passes_the_threshold():
    speeds = {12: "a", 16: "b", 24: "c", 32: "d", 150: "e"}
    cards = [(name, 1000 - speed, speed) for speed, name in speeds.items()]
    assert BandwidthThenMostFree(threshold_gbps=48).choose(20, cards) == "e"
    scores = BandwidthThenMostFree(threshold_gbps=48).scores(20, cards)
    assert [name for name, score in scores.items() if score >= 0] == ["e"]


def test_target_card_max_bandwidth():
    assert MaxBandwidth().choose(20, CARDS) == "gpu3"
    assert MaxBandwidth().choose(20, CARDS, tie="most_free") == "gpu6"


def test_target_card_threshold():
    assert BandwidthThenMostFree(threshold_gbps=48).choose(20, CARDS) == "gpu6"


def test_ties_behind_a_threshold_are_the_engine_s_and_a_path_just_as_fast_as_it_counts():
    """Two cards of equal free memory at 48 GB/s, the threshold: the lower id; one GB/s more, and the fastest path."""
    cards = [("cpu0", 90, 47), ("gpu1", 70, 48), ("gpu2", 70, 150), ("gpu3", 60, 150)]
    at, above = BandwidthThenMostFree(threshold_gbps=48), BandwidthThenMostFree(threshold_gbps=151)
    assert at.scores(20, cards) == {"cpu0": -1, "gpu1": 70, "gpu2": 70, "gpu3": 60}
    assert [at.choose(20, cards, tie=tie) for tie in ("lowest_id", "most_free")] == ["gpu1", "gpu1"]
    assert at.choose(20, cards[::-1]) == "gpu2", "of cards in another order the first of equal ones"
    assert BandwidthThenMostFree(threshold_gbps=150).scores(20, cards)["gpu2"] == 70, "150 GB/s are no fallback"
    slower = [("cpu0", 90, 47), ("gpu1", 60, 150), ("gpu2", 70, 150)]
    assert above.scores(20, slower) == {"cpu0": 47, "gpu1": 150, "gpu2": 150}
    assert [above.choose(20, slower, tie=tie) for tie in ("lowest_id", "most_free")] == ["gpu1", "gpu2"]


def rounded(policy, **seen):
    return {name: round(score, 4) for name, score in policy.scores(20, CARDS, **seen).items()}


def test_target_card_w1_w2():
    assert WeightedCards().choose(20, CARDS) == "gpu6"
    assert rounded(WeightedCards()) == {"cpu0": 0.3667, "gpu3": 1.2, "gpu5": 1.1067, "gpu6": 1.3}


def test_target_card_raw_sum():
    raw = WeightedCards(choices=(MostFree(), MaxBandwidth()), weights=(1, 1), normalise=False)
    assert raw.choose(20, CARDS) == "gpu5"
    assert rounded(raw) == {"cpu0": 68, "gpu3": 190, "gpu5": 216, "gpu6": 210}


@pytest.mark.parametrize(("shape", "gpu3"), [("reciprocal", 1.7), ("share", 1.95)])
def test_target_card_w1_w2_w3(shape, gpu3):
    policy = WeightedCards(choices=(MostFree(), MaxBandwidth(), LeastBorrowed(shape=shape)), weights=(1, 1, 1))
    assert policy.choose(20, CARDS, history=HISTORY) == "gpu5"
    assert rounded(policy, history=HISTORY) == {"cpu0": 1.3667, "gpu3": gpu3, "gpu5": 2.1067, "gpu6": 1.55}


def test_target_card_without_a_filter():
    cards = [("gpu1", 8, 150), ("gpu5", 30, 16)]
    literal = WeightedCards(filtered=False)
    assert literal.choose(20, cards) == "gpu1"
    assert {name: round(score, 4) for name, score in literal.scores(20, cards).items()} == {
        "gpu1": 1.2667,
        "gpu5": 1.1067,
    }
    assert WeightedCards().choose(20, cards) == "gpu5"


def test_idle_release():
    cached = [64, 128, 256, 512, 1024]
    assert SmallestSufficient().returned(cached, limit=1000) == [1024]
    assert LeastRecentlyUsed().returned(cached, limit=1000) == cached


def test_what_makes_no_sense_is_refused_in_one_sentence():
    assert "at least 1 byte" in refusal(best_fit_split, [32, 0], 64)
    assert "at least 0 bytes" in refusal(SmallestSufficient().returned, [1], -1)
    assert "Got none" in refusal(MaxBandwidth().choose, 20, [])
    assert "gpu9" in refusal(MaxBandwidth().choose, 20, CARDS, {"gpu9": 1})
    assert "unknown thing" in refusal(lambda: MaxBandwidth().choose(20, CARDS, hop=(1,)))
    assert "must not all be 0" in refusal(WeightedCards, weights=(0, 0, 0))
