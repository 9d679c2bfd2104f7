"""What a node refuses before anything runs: one sentence that says where, what was expected, what came (issue 19)."""

from __future__ import annotations

import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.engines.node.test_theory import PAGE, simulated
from tests.engines.node.test_theory import kernel as of_theory
from tests.oracles.node.description import Node
from tests.oracles.node.small import card, kernel, tensor
from tests.oracles.node_beside import Engine, setup_of
from workbench.compiled import INTERPRETED
from workbench.engines.node.plan import MOST_TOUCHES
from workbench.engines.node.pool_part import _check_pages
from workbench.errors import InputError, PolicyError
from workbench.policies.malloc import BlockAggregated
from workbench.policies.pool.caching_allocators import PytorchCaching, SplitAndCoalesce
from workbench.workloads.application import Allocate, Application, Free, Kernel, Launch, Phase, Step, Touch, Wait
from workbench.workloads.application_check import check_applications


@pytest.mark.parametrize(
    ("cache", "cure"),
    [
        (SplitAndCoalesce(align=3), "round up to a power of two, or use options.pages: neutral."),
        (PytorchCaching(), "use split_and_coalesce, or use options.pages: neutral."),
    ],
)
def test_a_cache_that_asks_for_parts_of_pages_is_not_cured_by_itself(cache, cure):
    """`split_and_coalesce` with an align of 3 was answered by "use split_and_coalesce"."""
    slots = SimpleNamespace(cache=cache, driver=SimpleNamespace(layout="none"))
    case = SimpleNamespace(slots=slots, options=SimpleNamespace(driver_granule=2 << 20))
    with pytest.raises(InputError, match=re.escape(f"no whole pages of 4194304 bytes; {cure}")):
        _check_pages(case, 4 << 20)


def launched(*touches: Touch, cycles: tuple[float, ...] = (5, 5), **more: Any) -> Launch:
    """Return a step that puts a kernel of two groups forward."""
    instructions = more.pop("instructions", (0,) * 6)
    phase = Phase(np.array(cycles), touches, tuple(more.pop("mallocs", ())), instructions)
    return Launch(Kernel(**{"groups": 2, "phases": (phase,), "waves": 1, **more}))


A = Touch(0)
BYTES = Allocate(0, 4096)
WRONG: dict[str, tuple[tuple[tuple[Step, ...], ...], str]] = {
    "never allocated": (((launched(A),),), "stream 0, step 0 launches a kernel that names tensor 0, which is never"),
    "empty tensor": (((Allocate(0, 0), launched(A)),), "step 1 launches a kernel that touches tensor 0, which has no"),
    "no phase": (((launched(phases=()),),), "step 0 launches a kernel without a phase; give it at least one"),
    "no group": (((launched(groups=0),),), "step 0: groups must be a whole number of at least 1. Got 0. Nearest: 1"),
    "no wave": (((launched(waves=0),),), "step 0: waves must be a whole number of at least 1. Got 0. Nearest: 1"),
    "too few cycles": (((launched(cycles=(1,)),),), "phase 0: cycles must be a number for each of the 2 groups. Got 1"),
    "negative cycles": (((launched(cycles=(1, -4)),),), "cycles must be whole numbers of at least 0. Got -4. Nearest"),
    "pattern": (((BYTES, launched(Touch(0, "slices"))),), "touch 0: unknown pattern 'slices'; .* Did you mean slice"),
    "no draws": (((BYTES, launched(Touch(0, count=0))),), "touch 0: count must be a whole number of at least 1. Got 0"),
    "no skew": (((BYTES, launched(Touch(0, skew=float("nan")))),), "skew must be a number of at least 0. Got nan"),
    "malloc of nothing": (((launched(mallocs=(0,)),),), "mallocs must be a whole number of at least 1. Got 0"),
    "allocated twice": (((BYTES, BYTES),), "step 1 allocates tensor 0, which is allocated already"),
    "freed twice": (((BYTES, Free(0), Free(0)),), "step 2 frees tensor 0, which is freed already"),
    "negative size": (((Allocate(0, -1),),), "step 0: bytes must be a whole number of at least 0. Got -1. Nearest: 0"),
    "freed before its kernel": (((BYTES, Free(0), launched(A)),), "stream 0 .step 1. would wait for what comes behind"),
    "used before it is allocated": (((launched(A), BYTES),), "stream 0 .step 0. would wait for what comes behind"),
    "no such stream": (((Wait(3, 1),),), "step 0: wait must name a stream from 0 to 0. Got 3"),
    "too many steps": (((Wait(1, 2),), (BYTES,)), "wait must be for at most the 1 steps of stream 1. Got 2"),
    "a circle": (((Wait(1, 1),), (Wait(0, 1),)), "stream 0 .step 0. and stream 1 .step 0. would wait for each other"),
    "a circle through a free": (
        ((BYTES, Free(0), Allocate(1, 1)), (Wait(0, 3), launched(A))),
        "stream 0 .step 1. and stream 1 .step 0. would wait for each other for ever",
    ),
}  # fmt: skip


NUMBERS: dict[str, tuple[list[Step], str]] = {
    "endless skew": ([BYTES, launched(Touch(0, skew=float("inf")))], "skew must be a number of at least 0. Got inf"),
    "half a stride": ([BYTES, launched(Touch(0, stride=1.5))], "touch 0: stride must be a whole number. Got 1.5"),  # type: ignore[arg-type]
    "no element": ([BYTES, launched(Touch(0, element_bytes=0))], "element_bytes must be a whole number of at least 1"),
    "too many draws": ([BYTES, launched(Touch(0, count=1 << 21))], "count must be a whole number of at most 1048576"),
    "negative bytes": ([BYTES, launched(Touch(0, bytes=-1))], "bytes must be a whole number of at least 0. Got -1"),
    "too far": ([BYTES, launched(Touch(0, "stride", stride=1 << 61))], "touch 0 strides over [0-9]* bytes; at most"),
    "half a group": ([launched(groups=2.0)], "step 0: groups must be a whole number. Got 2.0. Nearest: 2"),
    "half a wave": ([launched(waves=1.5)], "step 0: waves must be a whole number. Got 1.5. Nearest: 2"),
    "no number of waves": ([launched(waves=float("nan"))], r"step 0: waves must be a whole number. Got nan\.$"),
    "half a byte": ([Allocate(0, 4096.5)], "step 0: bytes must be a whole number. Got 4096.5. Nearest: 4096"),  # type: ignore[arg-type]
    "too many bytes": ([Allocate(0, 1 << 62)], "step 0: bytes must be a whole number of at most 4398046511104. Got 46"),
    "negative demand": ([launched(demand={"vgpr": -1})], "demand.'vgpr'. must be a whole number of at least 0. Got -1"),
    "half a demand": ([launched(demand={"shared": 0.5})], "demand.'shared'. must be a whole number. Got 0.5"),
    "cycles not whole": ([launched(cycles=(1.5, 2))], "phase 0: cycles must be an array of whole numbers. Got float64"),
    "no cycles": ([launched(cycles=(float("nan"), 1))], "cycles must be an array of whole numbers. Got float64: nan"),
    "endless cycles": ([launched(cycles=(1, 1 << 62))], "cycles must be whole numbers of at most 36028797018963968. G"),
    "classes": ([launched(instructions=(1, 2))], "instructions must be a number for each of the 6 classes. Got 2"),
    "negative class": ([launched(instructions=(0, 0, -4, 0, 0, 0))], "instructions.2. must be a whole number of at l"),
    "half a wait": ([Wait(0, 0.5)], "step 0: steps of wait must be a whole number. Got 0.5. Nearest: 0"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_cannot_be_counted(name: str) -> None:
    """Each ran, or fell over while it did."""
    steps, sentence = NUMBERS[name]
    with pytest.raises(InputError, match=f"^application 0, stream 0.*{sentence}"):
        check_applications((Application((tuple(steps),)),))


@pytest.mark.parametrize(
    ("lever", "value", "sentence"),
    [
        ("priority", 0, "priority must be a whole number of at least 1. Got 0. Nearest: 1"),
        ("arrival", -5, "arrival must be a whole number of at least 0. Got -5. Nearest: 0"),
        ("arrival", 1 << 62, "arrival must be a whole number of at most 36028797018963968"),
        ("home", 0.5, "home must be a whole number. Got 0.5. Nearest: 0"),
        ("home", True, "home must be a whole number. Got True"),
    ],
)
def test_applications_that_are_nowhere(lever: str, value: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"application 1: {sentence}"):
        check_applications((Application(((BYTES,),)), Application((), **{lever: value})))


def test_a_priority_that_no_dispatcher_has() -> None:
    with pytest.raises(
        InputError, match=r"^application 0: priority must be a whole number of at most 8\. Got 9\. Near"
    ):
        simulated(Application(((BYTES,),), priority=9))


def test_no_applications() -> None:
    with pytest.raises(InputError, match=r"^a node runs at least one application\. Got none\.$"):
        check_applications(())


def test_cycles_that_add_up() -> None:
    kernels = launched(cycles=(1 << 54, 1 << 54)), launched(cycles=(1 << 54, 9))
    with pytest.raises(InputError, match=r"all groups compute for 5\.4e\+16 cycles together; at most 2\^55 can be"):
        check_applications((Application((kernels,)),))


def test_a_misspelt_resource_is_no_resource_without_a_limit() -> None:
    """It ran, with as many groups at a time as there are wave slots."""
    many = Launch(Kernel(4, (Phase(np.full(4, 100)),), 1, {"lds": 40}))
    with pytest.raises(
        InputError, match=r"application 0, stream 0, step 0: unknown resource 'lds'; there are sgpr, shared, "
    ):
        simulated(Application(((many,),)))


@pytest.mark.parametrize("name", WRONG)
def test_applications_that_cannot_run(name: str) -> None:
    streams, sentence = WRONG[name]
    with pytest.raises(InputError, match=f"application 0.*{sentence}"):
        check_applications((Application(streams),))


def refused(
    policies: dict[str, Any] | None = None, size: int = 1, tlbs: dict[str, Any] | None = None, **options: Any
) -> str:
    """Return why a node of one card and one kernel is refused; nothing has been simulated then."""
    steps = [tensor("a", size), kernel(1, {"compute": 1, "touches": [{"tensor": "a"}]})]
    values = {"machine": {"cards": [card()]}, "applications": [{"streams": [steps]}], "policies": policies or {}}
    setup = setup_of(Node.of(values))
    given = setup.options.values() | options
    machine: Any = setup.machine
    machine = machine.but(translation=machine.translation.but(**tlbs or {}))
    with pytest.raises(InputError) as problem:
        Engine().simulate(setup._replace(machine=machine, options=type(setup.options).read(given)), 1)
    return str(problem.value)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"pool": {"pointer_mode": "mapped_pointer"}},
         "options.pool.pointer_mode must be identifier in a node, as a node maps what is granted by its page tables. "
         "Got 'mapped_pointer'. Nearest: identifier."),
        ({"pool": {"touches": 2.0}},
         "options.pool.touches must be 1.0 in a node, as the groups of a node touch what was lent themselves. Got 2.0. "
         "Nearest: 1.0."),
        ({"translation": {"cores_issue": {"warps": {"count": 4}}}},
         "options.translation.cores_issue must be open in a node, as the groups of a node decide when a module issues. "
         "Got 'warps(count=4)'. Nearest: open."),
        ({"translation": {"pages_an_entry": 4}},
         "options.translation.pages_an_entry must be 1 in a node, as the page sizes of a node are those of "
         "options.pages. Got 4. Nearest: 1."),
        ({"translation": {"shootdown": "broadcast"}},
         "options.translation.shootdown must be targeted in a node, as options.shootdown_to says who is told. Got "
         "'broadcast'. Nearest: targeted."),
        ({"dispatch": {"concurrency": "leftover"}},
         "options.dispatch.concurrency must be full_overlap in a node, as the streams of a node's applications order "
         "their kernels. Got 'leftover'. Nearest: full_overlap."),
        ({"dispatch": {"pending_depth": 2}},
         "options.dispatch.pending_depth must be 0 in a node, as a group of a node begins its first phase when it is "
         "dispatched. Got 2. Nearest: 0."),
        ({"dispatch": {"progress": {"shared_rate": {"of": "waves"}}}},
         "options.dispatch.progress must be constant in a node, as the phases of a node's groups say how long they "
         "last. Got 'shared_rate(of=waves)'. Nearest: constant."),
        ({"dispatch": {"spread": True}},
         "options.dispatch.spread must be False in a node, as the kernels of a node have no clusters. Got True. "
         "Nearest: False."),
        ({"pages": "4k"},
         "options.memory must be wait where options.pages is 4k, as pages come from the frames that the pool grants. "
         "Got 'at_once'. Nearest: wait."),
    ],
)  # fmt: skip
def test_couplings_that_the_levers_of_the_parts_cannot_serve(options: dict[str, Any], sentence: str) -> None:
    assert refused(**options) == sentence


@pytest.mark.parametrize(
    ("name", "value", "only"), [("middle_entries", 8, 0), ("middle_pages", 2, 1), ("shared_pages", 4, 1)]
)
def test_levels_of_tlbs_that_a_node_has_not(name: str, value: int, only: int) -> None:
    assert refused(tlbs={name: value}) == (
        f"machine.translation.{name} must be {only} in a node, whose TLBs have two levels with entries of a page. "
        f"Got {value}. Nearest: {only}."
    )


def test_a_shoot_down_by_a_directory_that_there_is_not() -> None:
    sentence = refused(policies={"locate": "no_directory"}, shootdown_to="directory")
    assert sentence == "options.shootdown_to: directory needs a policy.locate that knows holders. Got no_directory."


def test_lanes_of_several_waves_that_are_served_together() -> None:
    """In a node each wave asks by itself."""
    steps = [kernel(1, {"compute": 1, "mallocs": [8, 8]})]
    setup = setup_of(Node.of({"machine": {"cards": [card()]}, "applications": [{"streams": [steps]}]}))
    setup = setup._replace(policies={**setup.policies, "serve": BlockAggregated(block_size=128)})
    with pytest.raises(InputError) as problem:
        Engine().simulate(setup, 1)
    assert str(problem.value) == (
        "policy.serve: block_aggregated serves 128 threads together, which are no equal part of a wave of 32; in a "
        "node each wave asks by itself. Nearest: warp_aggregated with warp_size 32."
    )


def test_a_tensor_larger_than_any_card_where_kernels_wait_for_memory() -> None:
    sentence = refused(size=1 << 20, memory="wait")
    assert sentence.startswith("application 0, stream 0, step 0: bytes must be at most what the largest card has (")


def test_an_application_whose_home_there_is_not() -> None:
    values = {"machine": {"cards": [card()]}, "applications": [{"home": 3, "streams": [[kernel(1)]]}]}
    with pytest.raises(InputError, match=r"application 0: home must be a GPU from 0 to 0\. Got 3\. Nearest: 0\."):
        Engine().simulate(setup_of(Node.of(values)), 1)


@pytest.mark.node
def test_a_free_of_a_tensor_in_use_is_an_error_by_lever() -> None:
    """The kernel of the other stream has not ended when its tensor is freed (E5)."""
    use = kernel(1, {"compute": 500, "touches": [{"tensor": "a", "pattern": "shared"}]})
    streams = [[tensor("a"), {"free": "a"}], [use]]
    couplings = {"free_in_use": "error"}
    values = {"machine": {"cards": [card()]}, "applications": [{"streams": streams}], "couplings": couplings}
    with pytest.raises(PolicyError, match="tensor 0 is freed while kernels that name it have not ended; with free_in"):
        Engine().simulate(setup_of(Node.of(values)), 1)


@pytest.mark.node
@pytest.mark.parametrize("more", [0, 1])
def test_more_pages_in_a_phase_than_there_are_numbers_for(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    """Their numbers would come round, and two touches of one cycle be of one name."""
    most = 6 if INTERPRETED else MOST_TOUCHES
    monkeypatch.setattr("workbench.engines.node.touches.MOST_TOUCHES", most)
    steps = (Allocate(0, (most + more) * PAGE), of_theory(np.array([10]), Touch(0, "shared")))
    run = partial(simulated, Application((steps,)), room=4)
    if more:
        with pytest.raises(PolicyError, match="a group touches more than 16,382 pages in one phase, and "):
            run()
    else:
        assert int(run().served.sum()) == most
