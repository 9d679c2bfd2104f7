"""An axis of the search space comes from the lever's declaration, narrowed only as far as the lever allows."""

import pytest

from workbench.errors import InputError
from workbench.levers import Lever
from workbench.tuning.dimension import dimension, tunable

WIDTH = Lever("width", "integer", 8, least=1, most=64, scale="power_of_two")
DEPTH = Lever("depth", "integer", 4, least=1, most=64)
DELAY = Lever("delay", "integer", 8, least=1, most=65536, scale="log")
SHARE = Lever("share", "number", 0.5, least=0, most=1, step=0.3)
FREE = Lever("free", "integer", 4, least=1)
TIE = Lever("tie", "choice", "low", choices=("low", "high", "alternate"))
FLAG = Lever("flag", "switch", True)
NAME = Lever("name", "text", "a")


class Recorded:
    """Answers like a trial of Optuna, always with the upper end, and remembers what it was asked."""

    def suggest_int(self, path, low, high, *, step, log):
        self.asked = (path, low, high, step, log)
        return high

    def suggest_float(self, path, low, high, *, step, log):
        self.asked = (path, low, high, step, log)
        return high

    def suggest_categorical(self, path, labels):
        self.asked = (path, labels)
        return labels[-1]


@pytest.mark.parametrize(
    ("lever", "wish", "asked", "value"),
    [
        (DEPTH, True, ("p", 1, 64, 1, False), 64),
        (DEPTH, {"least": 3, "most": 10, "step": 4}, ("p", 3, 7, 4, False), 7),
        (WIDTH, True, ("p", 0, 6, 1, False), 64),
        (WIDTH, {"least": 2, "most": 16}, ("p", 1, 4, 1, False), 16),
        (DELAY, True, ("p", 1, 65536, 1, True), 65536),
        (DELAY, {"most": 100, "scale": "linear"}, ("p", 1, 100, 1, False), 100),
        (SHARE, True, ("p", 0, pytest.approx(0.9), 0.3, False), pytest.approx(0.9)),
        (TIE, True, ("p", ("low", "high", "alternate")), "alternate"),
        (TIE, ["high", "low"], ("p", ("high", "low")), "low"),
        (FLAG, True, ("p", (False, True)), True),
        (DEPTH, {"values": [2, 8]}, ("p", (2, 8)), 8),
        (FREE, {"most": 9}, ("p", 1, 9, 1, False), 9),
        (NAME, ["x", "y"], ("p", ("x", "y")), "y"),
    ],
)
def test_what_optuna_is_asked_for(lever, wish, asked, value):
    trial = Recorded()
    assert dimension(lever, wish, "p").ask(trial) == value
    assert trial.asked == asked


@pytest.mark.parametrize("lever", [DEPTH, WIDTH, SHARE], ids=lambda lever: lever.name)
@pytest.mark.parametrize("write", [list, tuple])
def test_two_rising_numbers_are_refused_with_both_spellings(lever, write):
    """`[0, 31]` was read as two values where a range was meant: 20 trials, 3 settings."""
    low, high = (0.25, 0.75) if lever is SHARE else (2, 32)
    with pytest.raises(InputError) as refused:
        dimension(lever, write([low, high]), "policy.queue.look.k", "a.yaml")
    assert str(refused.value) == (
        f"a.yaml: policy.queue.look.k.tune must say what two numbers mean: {{tune: {{least: {low}, most: {high}}}}} is "
        f"a range, {{tune: {{values: [{low}, {high}]}}}} is two values. Got {write([low, high])}."
    )
    assert dimension(lever, {"values": [low, high]}, "p").values == (low, high)
    assert dimension(lever, {"least": low, "most": high}, "p").kind != "category"


@pytest.mark.parametrize("values", [[8], [8, 2], [2, 4, 8], [8, 4, 2]])
def test_other_lists_of_numbers_can_only_be_values(values):
    for wish in (values, {"values": values}):
        assert dimension(DEPTH, wish, "p").values == tuple(values)


@pytest.mark.parametrize(("least", "most", "step", "top"), [(0, 1, 0.1, 1), (0.01, 0.9, 0.01, 0.9), (0, 1, 0.3, 0.9)])
def test_steps_reach_the_end_of_the_range(least, most, step, top):
    """1 // 0.1 is 9, so that no trial tried the end of the range."""
    axis = dimension(Lever("share", "number", 0.5, least=least, most=most, step=step), True, "p")
    assert axis.most == pytest.approx(top) and axis.most <= most
    assert axis.distribution().high == pytest.approx(top)


def test_words_and_switches_are_values_however_many():
    for lever, values in ((TIE, ["high", "low"]), (FLAG, [False, True]), (NAME, ["1", "2"])):
        assert dimension(lever, values, "p") == dimension(lever, {"values": values}, "p")


@pytest.mark.parametrize(
    ("lever", "wish", "start"),
    [
        (DEPTH, True, 4),
        (DEPTH, {"least": 10}, 10),
        (TIE, ["high", "alternate"], "high"),
        (TIE, ["high", "low"], "low"),
        (FLAG, True, True),
        (WIDTH, True, 8),
    ],
)
def test_the_start_is_the_default_where_it_can_be_chosen(lever, wish, start):
    assert dimension(lever, wish, "p").start == start


@pytest.mark.parametrize(
    ("lever", "wish", "sentence"),
    [
        (DEPTH, {"most": 65}, "s.yaml: p.tune.most must be a whole number from 1 to 64. Got 65. Nearest: 64."),
        (DEPTH, {"least": 9, "most": 3}, "s.yaml: p.tune has an empty range: least is 9 and most is 3."),
        (
            DEPTH,
            {"lowest": 3},
            "s.yaml: p.tune: unknown key 'lowest'; there are least, most, scale, step, values. Did",
        ),
        (DEPTH, {"step": 0}, "s.yaml: p.tune.step must be a number above 0, whole for a whole lever. Got 0."),
        (DEPTH, {"step": 1.5}, "Got 1.5."),
        (DEPTH, {"scale": "cubic"}, "s.yaml: p.tune.scale must be linear or log. Got 'cubic'."),
        (WIDTH, {"scale": "log"}, "takes powers of two"),
        (FREE, True, "s.yaml: p has no range to tune over; give its values, {tune: {values: [...]}}, or both ends"),
        (NAME, True, "s.yaml: p has no range to tune over; give its values, {tune: {values: [...]}}."),
        (TIE, {"least": 1}, "s.yaml: p has no range to tune over"),
        (TIE, ["lowest"], "s.yaml: p.tune[0] must be one of low, high, alternate. Got 'lowest'. Nearest: low."),
        (DEPTH, [2, 2], "s.yaml: p.tune must be a list of different values. Got [2, 2]."),
        (DEPTH, [], "s.yaml: p.tune must be a list of at least one value. Got []."),
        (DEPTH, {"values": []}, "s.yaml: p.tune.values must be a list of at least one value. Got []."),
        (DEPTH, {"values": 4}, "s.yaml: p.tune.values must be a list of at least one value. Got 4."),
        (
            DEPTH,
            {"values": [1, 65]},
            "s.yaml: p.tune.values[1] must be a whole number from 1 to 64. Got 65. Nearest: 64.",
        ),
        (
            DEPTH,
            {"values": [4], "most": 9},
            "s.yaml: p.tune.values must stand alone; it says all that is tried. Got most",
        ),
        (DEPTH, "all", "s.yaml: p.tune must be true, {least: , most: }, or {values: [...]}. Got 'all'."),
        (DEPTH, False, "Got False."),
    ],
)
def test_a_range_that_is_not_allowed_is_one_sentence(lever, wish, sentence):
    with pytest.raises(InputError) as refused:
        dimension(lever, wish, "p", "s.yaml")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_which_levers_say_by_themselves_what_can_be_tried():
    assert [tunable(lever) for lever in (DEPTH, TIE, FLAG, FREE, NAME)] == [True, True, True, False, False]
