"""Levers and specs: every kind checked, shown, written, read and described; authors' mistakes are sentences too."""

import pickle
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from tests.junk import ANYTHING, refusal
from workbench.errors import InputError
from workbench.identity import digest_of
from workbench.levers import REQUIRED, Lever, Spec, identity_of, lever, read_spec, snake_case
from workbench.policies.placement import Placement


class Tyre(Spec):
    width: int = lever(205, least=100, most=400, unit="mm", description="width")
    profile: float = lever(0.55, least=0.2, most=1, description="height over width")


class Car(Spec):
    """Every kind of lever."""

    wheels: ClassVar[int] = 4
    doors: int = lever(5, least=2, most=5, description="doors")
    power: float = lever(80.0, least=1, most=1_000_000, scale="log", unit="kW", description="power")
    cylinders: int = lever(4, least=1, most=16, scale="power_of_two", description="cylinders")
    roof: bool = lever(True, description="whether there is a roof")
    fuel: Literal["petrol", "diesel", "none"] = lever("petrol", description="what it burns")
    plate: str = lever("unknown", description="number plate")
    gears: tuple[int, ...] = lever((1, 2, 3), least=1, most=9, description="gears")
    ratios: tuple[float, ...] = lever((), least=0, description="ratios")
    tyre: Tyre = lever(Tyre(), description="tyre")


class Trailer(Spec):
    load: float = lever(least=0, unit="kg", description="load")
    axles: int = lever(2, least=1, description="axles")

    def check(self) -> None:
        if self.load > 1000 * self.axles:
            raise InputError(f"{self.name}.load must be at most {1000 * self.axles} on {self.axles} axles.")


class Train(Spec):
    """A spec in a spec in a spec."""

    trailer: Trailer = lever(Trailer(load=0), description="the trailer")
    car: Car = lever(Car(), description="the car")


CARS = st.builds(
    Car,
    doors=st.integers(2, 5),
    power=st.floats(1, 1e6),
    cylinders=st.sampled_from([1, 2, 4, 8, 16]),
    roof=st.booleans(),
    fuel=st.sampled_from(["petrol", "diesel", "none"]),
    plate=st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126), min_size=1),
    gears=st.lists(st.integers(1, 9)),
    ratios=st.lists(st.floats(0, 1e300)),
    tyre=st.builds(Tyre, width=st.integers(100, 400)),
)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"doors": 6}, "car.doors must be a whole number from 2 to 5. Got 6. Nearest: 5."),
        ({"doors": 3.4}, "car.doors must be a whole number from 2 to 5. Got 3.4. Nearest: 3."),
        ({"doors": "3"}, "car.doors must be a whole number from 2 to 5. Got '3'. Nearest: 3."),
        ({"doors": "3e0"}, "car.doors must be a whole number from 2 to 5. Got '3e0'. Nearest: 3."),
        ({"doors": True}, "car.doors must be a whole number from 2 to 5. Got True."),
        ({"doors": None}, "car.doors must be a whole number from 2 to 5. Got None."),
        ({"doors": float("nan")}, "car.doors must be a whole number from 2 to 5. Got nan."),
        ({"doors": float("-inf")}, "car.doors must be a whole number from 2 to 5. Got -inf. Nearest: 2."),
        ({"doors": np.bool_(True)}, "car.doors must be a whole number from 2 to 5. Got True."),
        ({"doors": [3]}, "car.doors must be a whole number from 2 to 5. Got [3]."),
        ({"power": 0}, "car.power must be a number from 1 to 1000000. Got 0. Nearest: 1."),
        ({"power": float("inf")}, "car.power must be a number from 1 to 1000000. Got inf. Nearest: 1000000."),
        ({"power": "fast"}, "car.power must be a number from 1 to 1000000. Got 'fast'."),
        ({"power": 1j}, "car.power must be a number from 1 to 1000000. Got 1j."),
        ({"cylinders": 6}, "car.cylinders must be a power of two from 1 to 16. Got 6. Nearest: 8."),
        ({"cylinders": 99}, "car.cylinders must be a power of two from 1 to 16. Got 99. Nearest: 16."),
        ({"cylinders": 0}, "car.cylinders must be a power of two from 1 to 16. Got 0. Nearest: 1."),
        ({"roof": 1}, "car.roof must be true or false. Got 1."),
        ({"fuel": "desel"}, "car.fuel must be one of petrol, diesel, none. Got 'desel'. Nearest: diesel."),
        ({"fuel": None}, "car.fuel must be one of petrol, diesel, none. Got None. Nearest: none."),
        ({"fuel": ["petrol"]}, "car.fuel must be one of petrol, diesel, none."),
        ({"plate": ""}, "car.plate must be a text of one line. Got ''."),
        ({"plate": "a\nb"}, r"car.plate must be a text of one line. Got 'a\nb'."),
        ({"plate": 5}, "car.plate must be a text of one line. Got 5."),
        ({"plate": ["a"]}, "car.plate must be a text of one line (number plate). Got ['a']."),
        ({"gears": 3}, "car.gears must be a list of numbers. Got 3."),
        ({"gears": "123"}, "car.gears must be a list of numbers. Got '123'."),
        ({"gears": {1: 2}}, "car.gears must be a list of numbers. Got {1: 2}."),
        ({"gears": [1, 2.5]}, "car.gears[1] must be a whole number from 1 to 9. Got 2.5. Nearest: 2."),
        ({"ratios": [1, -1]}, "car.ratios[1] must be a number of at least 0. Got -1. Nearest: 0."),
        ({"tyre": 5}, "car.tyre must be a mapping of width, profile. Got 5."),
        ({"tyre": {"width": 99}}, "car.tyre.width must be a whole number from 100 to 400. Got 99. Nearest: 100."),
        ({"tyre": {"tyre": {"width": 99}}}, "car.tyre.tyre.width must be a whole number from 100 to 400. Got 99."),
        ({"tyre": {"wdth": 99}}, "car.tyre: unknown key 'wdth'; there are profile, width. Did you mean width?"),
    ],
)
def test_a_wrong_value_is_refused_in_python_and_from_a_file(given, says):
    with pytest.raises(InputError) as in_python:
        Car(**given)
    assert str(in_python.value).startswith(says)
    with pytest.raises(InputError) as from_file:
        read_spec(Car, given, "garage.car", "a.yaml")
    assert str(from_file.value).startswith(f"a.yaml: garage.{says}")


def test_numbers_beyond_every_float_are_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"^car\.power must be .* Nearest: 1000000\.$"):
        Car(power=10**400)
    with pytest.raises(InputError, match=r"^car\.doors must be .* Nearest: 2\.$"):
        Car(doors=-(10**5000))


@given(st.sampled_from(list(Car.levers)), ANYTHING)
def test_any_junk_is_taken_or_refused_in_one_line(name, value):
    message = refusal(read_spec, Car, {name: value}, "garage", "a.yaml")
    assert message.startswith(f"a.yaml: garage.{name}") or not message


@given(ANYTHING)
def test_any_junk_instead_of_a_mapping_is_taken_or_refused_in_one_line(value):
    message = refusal(read_spec, Train, value, "train", "a.yaml")
    assert message.startswith("a.yaml: train") or not message


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"doors": np.int16(3)}, 3),
        ({"power": 3}, 3.0),
        ({"power": np.float32(0.5) + 1}, 1.5),
        ({"power": Fraction(5, 2)}, 2.5),
        ({"roof": np.bool_(False)}, False),
        ({"plate": Path("a/b.csv")}, "a/b.csv"),
        ({"gears": range(1, 4)}, (1, 2, 3)),
        ({"gears": np.array([4, 5])}, (4, 5)),
        ({"ratios": [1, 2]}, (1.0, 2.0)),
        ({"tyre": {"tyre": {"width": 300}}}, Tyre(width=300)),
    ],
)
def test_a_value_is_kept_in_its_own_type(given, kept):
    ((name, _),) = given.items()
    value = getattr(Car(**given), name)
    assert value == kept
    assert type(value) is type(kept)


def test_minus_zero_is_zero():
    assert str(Trailer(load=-0.0).load) == "0.0"


@given(CARS)
def test_what_a_spec_writes_reads_back_as_the_same_spec(car):
    assert read_spec(Car, car.plain()) == car
    assert read_spec(Car, {"car": car.plain()}) == car
    assert pickle.loads(pickle.dumps(car)) == car
    assert hash(read_spec(Car, car.plain())) == hash(car)
    assert eval(repr(car)) == car


@given(CARS)
def test_what_a_spec_writes_fits_its_schema(car):
    jsonschema.validate(car.plain() | {"tyre": car.tyre.plain()}, Car.schema())


@pytest.mark.parametrize(
    "wrong", [{"doors": 6}, {"roof": 1}, {"fuel": "tea"}, {"gears": [0]}, {"horn": 1}, {"tyre": 1}]
)
def test_the_schema_refuses_what_the_reader_refuses(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, Car.schema())
    with pytest.raises(InputError):
        read_spec(Car, wrong)


def test_a_schema_describes_each_lever():
    shape = Car.schema()["properties"]
    assert shape["power"] == {
        "type": "number",
        "minimum": 1,
        "maximum": 1_000_000,
        "description": "power (kW)",
        "default": 80.0,
    }
    assert shape["roof"] == {"type": "boolean", "description": "whether there is a roof", "default": True}
    assert shape["gears"]["items"] == {"type": "integer", "minimum": 1, "maximum": 9}
    assert shape["tyre"]["default"] == {"tyre": {"width": 205, "profile": 0.55}}
    assert "default" not in Trailer.schema()["properties"]["load"]
    assert Trailer.schema()["required"] == ["load"]


def test_a_lever_that_must_be_given_is_named_with_its_meaning():
    assert Trailer.levers["load"].required
    with pytest.raises(InputError, match=r"^trailer needs load \(load\)\.$"):
        Trailer()
    with pytest.raises(InputError, match=r"^a\.yaml: train\.trailer needs load \(load\)\.$"):
        read_spec(Train, {"trailer": {"axles": 1}}, "train", "a.yaml")


def test_a_combination_is_refused_with_the_path_of_the_file():
    with pytest.raises(InputError, match=r"^trailer\.load must be at most 2000 on 2 axles\.$"):
        Trailer(load=2001)
    with pytest.raises(InputError, match=r"^a\.yaml: train\.trailer\.load must be at most 2000 on 2 axles\.$"):
        read_spec(Train, {"trailer": {"load": 2001}}, "train", "a.yaml")


def test_an_unknown_lever_is_refused_with_a_guess():
    with pytest.raises(InputError, match=r"^unknown lever of car 'dors'; .* Did you mean doors\?$"):
        Car(dors=3)
    with pytest.raises(InputError, match=r"^unknown key 'dors'; .* Did you mean doors\?$"):
        read_spec(Car, {"dors": 3})


def test_a_spec_is_frozen_and_makes_others():
    car = Car()
    with pytest.raises(AttributeError, match="frozen"):
        car.doors = 3
    with pytest.raises(AttributeError, match="frozen"):
        del car.doors
    assert (car.but(doors=3).doors, car.doors) == (3, 5)
    assert car != car.but(doors=3)
    assert car != Tyre()


def test_short_shows_what_differs_from_the_defaults():
    assert Car().short() == "car"
    assert Car(doors=3, tyre={"width": 300}).short() == "car(doors=3, tyre=tyre(width=300))"


def test_compiled_code_sees_the_scalar_levers_in_order():
    assert Car(fuel="none", roof=False).numbers() == [5.0, 80.0, 4.0, 0.0, 2.0]


def test_numbers_are_the_callers_and_leave_no_trace_in_a_spec():
    car = Car()
    before = pickle.dumps(car), identity_of(car)
    car.numbers().clear()
    assert car.numbers() == Car().numbers() != []
    assert (pickle.dumps(car), identity_of(car)) == before


def test_the_label_of_an_axis_has_the_unit():
    assert (Car.levers["power"].label, Car.levers["doors"].label) == ("power (kW)", "doors")


def test_a_class_is_named_by_its_code_as_well():
    reply = Train(trailer=Trailer(load=5)).identity()
    trailer = reply["train"]["trailer"]
    assert trailer["trailer"] == {"load": 5.0, "axles": 2}
    assert trailer["code"] == digest_of(Trailer) != reply["code"] == digest_of(Train)
    assert reply["train"]["car"]["car"]["tyre"]["tyre"] == Tyre().plain()


def test_a_class_of_the_package_is_named_by_its_code_too():
    from workbench.machine import Machine

    assert Machine().identity() == {"machine": Machine().plain(), "code": digest_of(Machine)}


def test_code_that_is_inherited_counts(monkeypatch):
    class Long(Trailer):
        pass

    before = Long(load=1).identity()
    monkeypatch.setattr(Trailer, "check", lambda self: None)
    assert Long(load=1).identity() != before


def test_levers_are_inherited_in_order_and_can_be_declared_again():
    class Van(Car):
        doors: int = lever(3, least=2, most=3, description="doors")
        length: float = lever(5.0, description="length")

    assert list(Van.levers) == [*Car.levers, "length"]
    assert (Van().doors, Car().doors) == (3, 5)
    assert Van.name == "van"


@pytest.mark.parametrize("name", ["values", "plain", "check", "levers", "name", "numbers", "short", "schema", "read"])
def test_a_lever_must_not_hide_what_every_spec_has(name):
    with pytest.raises(InputError, match=rf"^Wrong\.{name} cannot be a lever"):
        type("Wrong", (Spec,), {"__annotations__": {name: int}, name: lever(1, description="hides")})


def test_a_lever_must_not_hide_a_method_of_its_class():
    class Base(Spec):
        def place(self) -> int:
            return 1

    with pytest.raises(InputError, match=r"^Wrong\.place cannot be a lever"):
        type("Wrong", (Base,), {"__annotations__": {"place": int}, "place": lever(1, description="hides")})


@pytest.mark.parametrize("annotation", [None, dict, list[int], "Nowhere", complex])
def test_a_lever_needs_an_annotation_that_has_a_kind(annotation):
    body = {"depth": lever(1, description="depth"), "__module__": __name__}
    body |= {} if annotation is None else {"__annotations__": {"depth": annotation}}
    with pytest.raises(InputError, match=r"^Wrong\.depth (must be annotated with int|is annotated with Nowhere)"):
        type("Wrong", (Spec,), body)


def test_an_empty_range_is_refused_when_it_is_declared():
    with pytest.raises(InputError, match=r"^Narrow\.width has an empty range: least is 10 and most is 3\.$"):

        class Narrow(Spec):
            width: int = lever(5, least=10, most=3, description="width")


def test_an_annotation_may_be_a_text():
    body = {
        "mode": lever("a", description="mode"),
        "__module__": __name__,
        "__annotations__": {"mode": "Literal['a', 'b']"},
    }
    assert type("Right", (Spec,), body)(mode="b").mode == "b"


def test_required_is_one_thing_in_every_process():
    assert pickle.loads(pickle.dumps(REQUIRED)) is REQUIRED
    assert repr(REQUIRED) == "REQUIRED"


@given(st.integers(-(10**30), 10**30), st.integers(-100, 100), st.integers(0, 100))
def test_the_nearest_value_is_valid_and_none_is_nearer(value, least, width):
    lv = Lever("n", "integer", 0, least=least, most=least + width)
    message = refusal(lv.check, value)
    nearest = int(message.rpartition("Nearest: ")[2].rstrip(".")) if message else lv.check(value)
    assert nearest == min(range(least, least + width + 1), key=lambda n: abs(n - value))


@given(st.integers(-5, 1 << 40), st.integers(0, 20), st.integers(0, 10))
def test_the_nearest_power_of_two_is_one_and_in_range(value, low, more):
    lv = Lever("n", "integer", 1, least=1 << low, most=1 << (low + more), scale="power_of_two")
    message = refusal(lv.check, value)
    nearest = int(message.rpartition("Nearest: ")[2].rstrip(".")) if message else value
    assert lv.check(nearest) == nearest


@pytest.mark.parametrize(
    ("name", "snake"), [("Car", "car"), ("LRUSet", "lru_set"), ("L2Cache", "l2_cache"), ("TLB", "tlb")]
)
def test_names_become_snake_case(name, snake):
    assert snake_case(name) == snake


def test_words_with_capitals_inside_stay_one_word():
    assert [snake_case(name) for name in ("NaNScore", "IsNaN", "GiBPool", "BananaNut", "DRRIP", "TLBShare")] == [
        "nan_score", "is_nan", "gib_pool", "banana_nut", "drrip", "tlb_share",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (3, "wide.size must be a power of two from 1 to 64, or 0. Got 3. Nearest: 4."),
        (-5, "wide.size must be a power of two from 1 to 64, or 0. Got -5. Nearest: 0."),
        (65, "wide.size must be a power of two from 1 to 64, or 0. Got 65. Nearest: 64."),
    ],
)
def test_zero_or_a_power_of_two(given, said):
    class Wide(Spec):
        size: int = lever(8, least=0, most=64, scale="power_of_two", description="0 or a power of two")

    assert [Wide(size=size).size for size in (0, 1, 64)] == [0, 1, 64]
    assert refusal(Wide, size=given) == said


@pytest.mark.parametrize(
    ("part", "value", "says"),
    [
        ("least", "a", "is declared with least='a'; least must be a number"),
        ("most", [1], "is declared with most=[1]; most must be a number"),
        ("step", float("nan"), "is declared with step=nan; step must be a number"),
        ("least", True, "is declared with least=True; least must be a number"),
        ("scale", "cubic", "unknown scale 'cubic'; there are linear, log, power_of_two."),
    ],
)
def test_a_range_that_is_none_is_refused_when_it_is_declared(part, value, says):
    with pytest.raises(InputError) as refused:
        type("Wrong", (Spec,), {"__annotations__": {"depth": int}, "depth": lever(1, **{part: value})})
    assert str(refused.value).startswith("Wrong.depth")
    assert says in str(refused.value)


def test_what_an_init_sets_beside_the_levers_is_refused_where_runs_would_lose_it():
    class Counting(Spec):
        count: int = lever(1, description="a lever")

        def __init__(self, start: int = 0, **levers):
            super().__init__(**levers)
            if start:
                vars(self)["start"] = start

        @cached_property
        def twice(self) -> int:
            return 2 * self.count

    plain = Counting(count=3)
    assert plain.twice == 6
    assert identity_of(plain)["counting"] == {"count": 3}
    with pytest.raises(InputError, match=r"counting\.start is set outside of the levers, .* `start: int = lever\("):
        identity_of(Counting(40))


def test_no_two_policies_that_differ_by_their_init_are_one_point():
    class Shifted(Placement):
        def __init__(self, shift: int):
            super().__init__()
            vars(self)["shift"] = shift

        def answer(see):
            return -1

    sweep = {"engine": "shared_memory", "workload": "large_uniform", "seeds": 1}
    with pytest.raises(InputError, match=r"shifted\.shift is set outside of the levers"):
        wb.run({**sweep, "policy": {"placement": {"vary": [Shifted(0), Shifted(40)]}}}, workers=1)
