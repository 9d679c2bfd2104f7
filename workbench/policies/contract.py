"""The contract of every policy, whatever its question: tests that three lines in a test file join.

    from workbench.policies.placement.contract import PlacementContract

    class TestMyFit(PlacementContract):
        policy = MyFit(shift=8)

A question says what it asks about (`scenes`) and which answers are allowed (`judge`); the rest is written here, once.
As a value (`ValueContract`) a policy is written down and read again, and refuses nonsense.
"""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import yaml

from workbench.compiled import RAISED, fields_of
from workbench.errors import InputError, PolicyError
from workbench.levers import Lever
from workbench.policies.fresh_process import in_a_fresh_interpreted_process
from workbench.policies.policy import Policy, base_of, read_policy
from workbench.policies.scenes import Request, Say, Scenes, Speaker, compiled, copied, digest, plain, walk
from workbench.streams import Streams

SEED = 1
"""Of every policy that draws."""

_FRESH = """
import pickle, sys
from workbench.policies.scenes import plain
print(pickle.load(sys.stdin.buffer).digest(plain))
"""


class ValueContract:
    """Tests that every policy passes; a subclass names the policy."""

    policy: ClassVar[Any]

    def test_yaml_and_back(self) -> None:
        text = yaml.safe_dump({self.policy.name: self.policy.plain()})
        assert read_policy(self.policy.question, yaml.safe_load(text)) == self.policy, text

    def test_pickles(self) -> None:
        import cloudpickle

        assert pickle.loads(cloudpickle.dumps(self.policy)) == self.policy
        if self.policy.built_in:
            assert pickle.loads(pickle.dumps(self.policy)) == self.policy

    def test_refuses_wrong_levers(self) -> None:
        for name, declared in self.policy.levers.items():
            for wrong in wrong_values(declared):
                sentence = _refusal(self.policy, {name: wrong})
                assert name in sentence, f"{name}={wrong!r}: the refusal does not name the lever: {sentence!r}"
                assert "\n" not in sentence, f"{name}={wrong!r}: the refusal is more than one sentence"
        assert "no_such_lever" in _refusal(self.policy, {"no_such_lever": 1})


def wrong_values(declared: Lever) -> list[Any]:
    """Return the values of the wrong type, outside of the range, or of no meaning."""
    wrong: list[Any] = [None, {}, object()]
    wrong += [] if declared.kind in ("integers", "numbers", "specs") else [[]]
    if declared.kind in ("integer", "number"):
        wrong += ["many", True, math.nan, math.inf, -math.inf]
        wrong += [declared.least - 1] if declared.least is not None else []
        wrong += [declared.most + 1] if declared.most is not None else []
    if declared.kind == "integer":
        wrong += [(declared.least or 0) + 0.5]
    if declared.kind in ("integers", "numbers"):
        wrong += ["many", [None], [math.nan], [1.0, "many"], 3]
        wrong += [[declared.least - 1]] if declared.least is not None else []
        wrong += [[declared.most + 1]] if declared.most is not None else []
    if declared.kind in ("choice", "spec"):
        wrong += ["no_such_choice", 1, True]
    if declared.kind == "specs":
        wrong += ["many", [None], ["no_such_choice"], 3]
    if declared.kind == "switch":
        wrong += ["yes", 1]
    return wrong


def _refusal(policy: Policy, levers: dict[str, Any]) -> str:
    try:
        policy.but(**levers)
    except InputError as refused:
        return str(refused)
    raise AssertionError(f"{levers} was not refused")


class Contract(ValueContract):
    """Tests that every policy with an answer passes; each question has a subclass, and each policy one of that.

    A question defines `scenes` and `judge`, and `start_memory` where its policies remember something.
    """

    sizes: ClassVar[tuple[int, ...]] = (1,)
    """Sizes of what is asked about (segments, blocks, units, channels, modules, cards)."""
    steps: ClassVar[int] = 60
    """Scenes of each size."""
    sizes_tried: ClassVar[tuple[int, ...]] = ()
    """Sizes in a check; all of them if empty."""
    tried: ClassVar[int] = 25
    """Scenes of each size in a check."""

    settings: ClassVar[tuple[str, ...]] = ("policy", "sizes", "steps")
    """What a subclass may set."""

    def scenes(self, policy: Any, size: int, steps: int, draw: np.random.Generator) -> Scenes:
        """Yield the views to be answered: their `levers` and `memory` are None, and each is sent its answer."""
        raise NotImplementedError

    def judge(self, request: Request) -> str:
        """Return the fault of an answer, as a sentence without the policy's name goes on; empty if there is none."""
        raise NotImplementedError

    def start_memory(self, policy: Any, size: int, seed: int) -> np.ndarray:
        """Return the memory of a policy at the start of a run of a size."""
        return np.zeros(1, np.int64)

    def speakers(self) -> Sequence[Any]:
        """Return the policies whose functions answer: the policy, unless others answer for it."""
        return (self.policy,)

    def levers(self, policy: Any) -> np.ndarray:
        """Return the numbers that answers see."""
        return np.array(policy.parameters())

    def test_answers_are_allowed(self) -> None:
        for requested in self.requests():
            assert requested.answer != RAISED, f"{requested.policy.short()} {requested.problem}"
            assert not (fault := self.judge(requested)), f"{requested.policy.short()} {fault}"

    def test_compiled_and_plain_answers_agree(self) -> None:
        for one, other in zip(self.requests(), self.requests(plain), strict=True):
            assert one.outcome == other.outcome, _disagreement(one, other)

    def test_stays_within_its_arrays(self) -> None:
        self.check()

    def test_leaves_its_inputs_alone(self) -> None:
        say = lru_cache(plain)
        for requested in self.requests(plain):
            again = copied(requested.see)
            answer = say(requested.policy)(requested.name, again)
            assert answer == requested.answer, f"answers differ on the same scene: {requested.see}"
            for name, field in fields_of(type(again)).items():
                before = getattr(requested.after if field.writable else requested.see, name)
                assert np.array_equal(getattr(again, name), before), (
                    f"{name} is another afterwards, for {requested.see}"
                )

    def test_memory_belongs_to_the_run(self) -> None:
        for policy in self.speakers():
            first, second = (self.start_memory(policy, self.sizes[-1], 5) for _ in range(2))
            assert (first.dtype, first.ndim) == (np.dtype(np.int64), 1), "memory is one row of int64"
            assert first is not second, "each run has its own memory"
            assert first.tolist() == second.tolist(), "the same seed gives the same memory"
            other = self.start_memory(policy, self.sizes[-1], 6)
            assert (first.tolist() != other.tolist()) == policy.draws, f"draws is {policy.draws}"

    def test_answers_the_same_in_a_fresh_interpreted_process(self) -> None:
        assert output_of_a_fresh_process(self._of_question(), _FRESH) == self.digest(compiled)

    def digest(self, way: Way) -> str:
        """Return a digest of what the policy answers in some small scenes."""
        return digest(self.walks(way, sizes=self.sizes_tried or self.sizes, steps=min(self.steps, 60)))

    def requests(self, way: Way = compiled) -> list[Request]:
        """Return the request of every scene; the last two walks are remembered, for tests look at one several times."""
        key = type(self), way
        if key not in _latest:
            while len(_latest) > 1:
                del _latest[next(iter(_latest))]
            _latest[key] = list(self.walks(way))
        return _latest[key]

    def walks(self, way: Way, sizes: Sequence[int] = (), steps: int = 0) -> Iterator[Request]:
        """Ask every policy that answers about the scenes of every size."""
        for policy in self.speakers():
            say = way(policy)
            for size in sizes or self.sizes:
                scenes = self.scenes(policy, size, steps or self.steps, Streams(0)["scenes"])
                memory = self.start_memory(policy, size, SEED)
                yield from walk(Speaker(policy, memory, say, self.levers(policy)), scenes)

    def check(self) -> None:
        """Ask a policy about some hundred scenes, with every index tested, and refuse a wrong answer (PolicyError)."""
        mine = self.walks(partial(compiled, checked=True), self.sizes_tried, self.tried)
        others = self.walks(plain, self.sizes_tried, self.tried)
        for one in mine:
            self._refuse(one)
            other = next(others)
            if one.outcome != other.outcome:
                raise PolicyError(_disagreement(one, other))

    def _refuse(self, request: Request) -> None:
        if fault := request.problem or self.judge(request):
            raise PolicyError(f"{request.policy.short()} {fault}.")

    def _of_question(self) -> Contract:
        """Return the contract as a fresh process can read it: the question's own class, with these settings."""
        named = next(cls for cls in type(self).__mro__ if cls.__module__.startswith("workbench."))
        contract: Contract = named()
        contract.__dict__.update({name: getattr(self, name) for name in self.settings})
        return contract


Way = Callable[[Any], Say]
_latest: dict[Any, list[Request]] = {}


def _disagreement(one: Request, other: Request) -> str:
    what = f"answered {one.answer} compiled and {other.answer} in plain Python"
    if one.answer == other.answer:
        what = "wrote or remembered otherwise compiled than in plain Python"
    return f"{one.policy.short()} {what}, for {one.see}."


def contract_class(base: type[Policy]) -> type[ValueContract]:
    """Return the contract of the question that a base stands for."""
    return _contract_beside(base.__module__)


def contract_of(policy: Policy) -> Any:
    """Return the contract of a policy's question, to be held against this policy."""
    contract: Any = contract_class(base_of(policy.question))()
    contract.policy = policy
    return contract


def _contract_beside(module: str) -> type[ValueContract]:
    """Return the contract in a question's module, or in `contract` next to `question`; if none, that of values."""
    package, _, last = module.rpartition(".")
    for name in (module, f"{package}.contract") if package and last == "question" else (module,):
        if name in sys.modules or find_spec(name) is not None:
            for cls in vars(import_module(name)).values():
                if _is_contract(cls, name):
                    contract: type[ValueContract] = cls
                    return contract
    return ValueContract


def _is_contract(result: Any, module: str) -> bool:
    return isinstance(result, type) and issubclass(result, ValueContract) and result.__module__ == module


def check(policy: Policy) -> None:
    """Ask a policy about some hundred scenes, with every array index tested, and refuse a wrong answer.

    Raises
    ------
    PolicyError
        The answer does not compile, raises, never ends, is not allowed, or differs between compiled and plain Python.
        The sentence names what was asked and what was answered.

    Examples
    --------
    >>> from workbench.policies.placement import BestFit
    >>> check(BestFit())
    """
    contract_of(policy).check()


def output_of_a_fresh_process(given: object, program: str) -> str:
    """Return the output of a program that reads something pickled from its standard input, in plain Python."""
    import cloudpickle

    reply = in_a_fresh_interpreted_process(program, cloudpickle.dumps(given))
    assert not reply.problem, reply.problem
    return reply.text.strip()
