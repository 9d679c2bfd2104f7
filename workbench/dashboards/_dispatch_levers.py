"""The seven levers of the source document's dispatcher, each with its policy (spec 3, section 2)."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from workbench.dashboards._card_levers import BOTH, CardLever, Change, State, nearest_of
from workbench.dashboards._dispatch_limits import (
    blocks_allowed,
    groups_allowed,
    largest_share,
    machine_of,
    probed_blocks,
    vgpr_blocks,
    waves_allowed,
)
from workbench.dashboards._dispatch_timeline import FILLS
from workbench.dashboards._lever_drawings import (
    blocks_drawing,
    groups_drawing,
    history_drawing,
    rounds_drawing,
    sampling_drawing,
    waves_drawing,
    windows_drawing,
)
from workbench.dashboards._settings import Setting, look_up, path_of, put, value_of
from workbench.errors import InputError
from workbench.levers import Lever
from workbench.palette import css
from workbench.policies.dispatch.choice.energy import LeastRecentEnergy
from workbench.policies.dispatch.priority_rules import PriorityWindows
from workbench.policies.dispatch.stuck import Backfill, NeverSplit, SplitWhenStuck
from workbench.policies.policy import policies
from workbench.policies.probes.shift_probe import (
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    SampledRun,
    powers_and_halfway,
    stepped,
    wrong_lengths,
)
from workbench.workloads.synthetic.laws import Law

_PATHS = {"baseline": "policy", "other": "other"}
_PLAIN = (ExactRun.name, "static_priority", NeverSplit.name, "most_residual")
"""What a slot has when the lever's policy was turned off."""
_CSS_FILLS = [css(name) for name in FILLS]
SAME = ""
"""What stands for the baseline's policy on the other side."""
LEVELS = 4
"""Priorities of a workload whose law does not say how many."""


def dispatch_card_levers() -> list[CardLever]:
    """Make N, M, Z, the sampled lengths, the windows, the threshold and nx, in the order of their cards."""
    return [
        Blocks(),
        Waves(),
        OfPolicy(
            letter="Z",
            title="groups of blocks",
            slot="probe",
            lever=GroupedRun.levers["groups"],
            on=_grouped,
            off=_ungrouped,
            usual=lambda setting, _: _usual_groups(setting),
            draw=lambda setting, probes: groups_drawing(
                vgpr_blocks(setting), [value_of(probe, "groups") or 0 for probe in probes]
            ),
            allowed=groups_allowed,
        ),
        Sampling(
            letter="k",
            title="sampled run lengths",
            slot="probe",
            lever=SampledRun.levers["run_lengths"],
            on=_sampled,
            off=_unsampled,
            usual=_lengths,
            draw=lambda setting, probes: sampling_drawing(
                vgpr_blocks(setting), [_report(probe, vgpr_blocks(setting)) for probe in probes]
            ),
        ),
        OfPolicy(
            letter="t",
            title="priority windows (cycles)",
            slot="priority",
            lever=PriorityWindows.levers["lengths"],
            on=lambda _, lengths: {"priority_windows": {"lengths": lengths}},
            off=lambda _: "static_priority",
            usual=lambda setting, _: _windows(setting),
            draw=lambda setting, policies: windows_drawing([_lengths_of(setting, one) for one in policies], _CSS_FILLS),
        ),
        OfPolicy(
            letter="G",
            title="failed rounds to split",
            slot="stuck",
            lever=SplitWhenStuck.levers["threshold"],
            on=lambda before, rounds: _within_backfill(before, {SplitWhenStuck.name: {"threshold": rounds}}),
            off=lambda before: _within_backfill(before, NeverSplit.name),
            usual=lambda *_: SplitWhenStuck.levers["threshold"].default,
            draw=lambda _, policies: rounds_drawing([value_of(one, "threshold") or 0 for one in policies]),
        ),
        OfPolicy(
            letter="nx",
            title="cycles of history",
            slot="choice",
            lever=LeastRecentEnergy.levers["nx"],
            on=lambda _, nx: {"least_recent_energy": {"nx": nx}},
            off=lambda _: "most_residual",
            usual=lambda *_: LeastRecentEnergy.levers["nx"].default,
            draw=lambda _, policies: history_drawing([value_of(one, "nx") or 0 for one in policies]),
        ),
    ]


class Blocks(CardLever):
    """N: the blocks of vector registers that each SIMD has."""

    letter, title = "N", "blocks a SIMD (vgpr)"
    names = ("vgprs_a_unit",)
    refused_by = "vgpr"
    lever = Lever("N", "integer", 128, least=1, most=4096, unit="blocks", description="vector registers of a SIMD")
    sides = (BOTH,)

    def state(self, setting: Setting, side: str) -> State:
        return State(vgpr_blocks(setting), True, "the machine")

    def change(self, setting: Setting, side: str, value: Any) -> Change:
        machine = machine_of(setting)
        return {"machine.vgprs_a_unit": value * machine.simds_a_unit * machine.wave_size * machine.vgpr_granule}

    def offers(self, setting: Setting, side: str) -> Sequence[int]:
        return blocks_allowed(setting)

    def drawing(self, setting: Setting) -> str:
        return blocks_drawing(vgpr_blocks(setting), largest_share(setting))

    def cures(self, setting: Setting, sentence: str) -> Iterator[tuple[int, Change]]:
        now, allowed = self.state(setting, BOTH).value, blocks_allowed(setting)
        around = [[one for one in allowed if one < now][-1:], [one for one in allowed if one > now][:1]]
        for value in sorted(itertools.chain(*around), key=lambda one: abs(one - now)):
            yield value, self.change(setting, BOTH, value)


class Waves(CardLever):
    """M: the most waves that a workgroup has; its law is drawn in from above."""

    letter, title = "M", "most waves of a group"
    names = ("waves",)
    refused_by = r"[vs]gpr_blocks|blocks of [vs]gpr|\.waves must"
    lever = Lever("M", "integer", 16, least=1, most=1024, unit="waves", description="waves of the largest workgroup")
    sides = (BOTH,)

    def __init__(self) -> None:
        self._whole: Any = None
        self._drawn_in: Any = None

    def state(self, setting: Setting, side: str) -> State:
        law = _waves(setting)
        if law is None:
            return State(None, False, "as the file says")
        return State(Law.read(law).span()[1], True, "the workload")

    def change(self, setting: Setting, side: str, value: Any) -> Change:
        law = _waves(setting)
        if law != self._drawn_in:  # somebody else chose it: from now on this is what is drawn in
            self._whole = law
        self._drawn_in = clipped_law(self._whole, value)
        return {"workload.random_groups.waves": self._drawn_in}

    def offers(self, setting: Setting, side: str) -> Sequence[int]:
        return waves_allowed(setting)

    def drawing(self, setting: Setting) -> str:
        waves = self.state(setting, BOTH).value
        return "" if waves is None else waves_drawing(waves, machine_of(setting).simds_a_unit)

    def cures(self, setting: Setting, sentence: str) -> Iterator[tuple[int, Change]]:
        law, allowed = _waves(setting), waves_allowed(setting)
        if law is not None and allowed:
            yield allowed[-1], {"workload.random_groups.waves": clipped_law(law, allowed[-1])}


@dataclasses.dataclass(frozen=True)
class OfPolicy(CardLever):
    """A lever of a policy, which is chosen when the lever is moved, unless one that has it is chosen already."""

    letter: str
    title: str
    slot: str
    lever: Lever
    on: Callable[[Any, Any], Any]
    """The policy that takes the place of another one, with a value of the lever."""
    off: Callable[[Any], Any]
    """What takes the place of that policy when the lever is to count no more."""
    usual: Callable[[Setting, Any], Any]
    """The value that the lever would have next to those of a side's policy, which has none of it."""
    draw: Callable[[Setting, list[Any]], str]
    """The drawing of the policies of both sides; of one where they are the same."""
    allowed: Callable[[Setting], Sequence[float]] | None = None
    sides = ("baseline", "other")

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self.lever.name,)

    def instead(self, setting: Setting, side: str, nearest: Any) -> Sequence[Any]:
        return (list(nearest) if isinstance(nearest, tuple) else nearest,)

    @property
    def refused_by(self) -> str:  # type: ignore[override]
        return rf"\.{self.lever.name} must"

    def state(self, setting: Setting, side: str) -> State:
        policy = effective_policy(setting, side, self.slot)
        value = value_of(policy, self.lever.name)
        name = _name(policy).replace("_", " ")
        same = side == "other" and setting["other"][self.slot] == SAME
        if value is None:
            return State(self.usual(setting, policy), False, "as the baseline" if same else f"off: {name}")
        return State(value or self.usual(setting, policy), True, "as the baseline" if same else name)

    def change(self, setting: Setting, side: str, value: Any) -> Change:
        policy = effective_policy(setting, side, self.slot)
        path, inside = f"{_PATHS[side]}.{self.slot}", path_of(policy, self.lever.name)
        if inside is None:
            return {path: self.on(policy, value)}
        if setting[side][self.slot] == SAME:
            return {path: put(policy, inside, value)}
        return {f"{path}.{inside}": value}

    def cures(self, setting: Setting, sentence: str) -> Iterator[tuple[Any, Change]]:
        """Return the value that the refusal says is nearest, for each side that has the one that it got."""
        near = nearest_of(sentence)
        if near is not None and any(f".{name} must" in sentence for name in self.names):
            yield from self._nearest(setting, *near)

    def _nearest(self, setting: Setting, got: Any, near: Any) -> Iterator[tuple[Any, Change]]:
        value = list(near) if isinstance(near, tuple) else near
        own = [side for side in self.sides if setting[side][self.slot] != SAME]
        held = {side: value_of(setting[side][self.slot], self.lever.name) for side in own}
        wrong = [
            side
            for side, one in held.items()
            if one is not None and (tuple(one) if isinstance(one, list) else one) == got
        ]
        if wrong:
            yield value, {path: what for side in wrong for path, what in self.change(setting, side, value).items()}

    def turned_off(self, setting: Setting, side: str) -> Change:
        left = self.off(setting[side][self.slot])
        return {f"{_PATHS[side]}.{self.slot}": SAME if side == "other" and _name(left) in _PLAIN else left}

    def can_turn_off(self, setting: Setting, side: str) -> bool:
        return value_of(setting[side][self.slot], self.lever.name) is not None

    def offers(self, setting: Setting, side: str) -> Sequence[float]:
        return self.allowed(setting) if self.allowed else ()

    def drawing(self, setting: Setting) -> str:
        both = [effective_policy(setting, side, self.slot) for side in self.sides]
        return self.draw(setting, both[:1] if both[0] == both[1] else both)


class Sampling(OfPolicy):
    """The run lengths of a probe; those that the resource is too short for are not built, and not state."""

    def state(self, setting: Setting, side: str) -> State:
        state = super().state(setting, side)
        groups = value_of(effective_policy(setting, side, "probe"), "groups")
        most = groups or vgpr_blocks(setting)
        words = f"{state.words}, in groups" if state.on and groups else state.words
        return state._replace(value=[length for length in state.value if length <= most], words=words)

    @property
    def refused_by(self) -> str:  # type: ignore[override]
        return rf"{super().refused_by}|reports \d+ when all are free"

    def cures(self, setting: Setting, sentence: str) -> Iterator[tuple[Any, Change]]:
        """Return the lengths with those that an empty resource answers to."""
        yield from super().cures(setting, sentence)
        if not re.search("when all are free", sentence):
            return
        for side in self.sides:
            policy = setting[side][self.slot]
            lengths = value_of(policy, self.lever.name) if policy != SAME else None
            if lengths is not None:
                value = self._long_enough(setting, side, self.state(setting, side).value)
                yield value, self.change(setting, side, value)

    def instead(self, setting: Setting, side: str, nearest: Any) -> Sequence[Any]:
        """Return the nearest legal lengths, then with those that an empty resource answers to."""
        return list(nearest), self._long_enough(setting, side, nearest)

    def _long_enough(self, setting: Setting, side: str, lengths: Sequence[int]) -> list[int]:
        groups = value_of(effective_policy(setting, side, self.slot), "groups")
        ends = {groups} if groups else set(probed_blocks(setting).values())
        longer = sorted({*lengths, *ends})
        return longer if not wrong_lengths(longer) else list(stepped(longer))


def clipped_law(law: Any, most: int) -> Any:
    """Return a law whose largest number is another one; what would lie above it is drawn in.

    >>> clipped_law({"uniform": {"low": 8, "high": 16}}, 4)
    {'uniform': {'low': 4, 'high': 4}}
    >>> both = {"bimodal": {"small_share": 0.8, "small": {"low": 1, "high": 4}, "large": {"low": 24, "high": 32}}}
    >>> clipped_law(both, 20)["bimodal"]["large"], clipped_law(both, 3)
    ({'low': 20, 'high': 20}, {'uniform': {'low': 1, 'high': 3}})
    """
    ((name, levers),) = law.items()
    law_read = Law.read(law)
    largest = law_read.largest
    lowest = re.sub("high$", "low", largest)
    if largest:
        tried = put(levers, largest, most)
        tried = put(tried, lowest, min(look_up(levers, lowest), most)) if lowest != largest else tried
        try:
            if Law.read({name: tried}).span()[1] == most:
                return {name: tried}
        except InputError:
            pass  # two ranges would overlap
    return {"uniform": {"low": min(law_read.span()[0], most), "high": most}}


def effective_policy(setting: Setting, side: str, slot: str) -> Any:
    """Return the policy that a side has in a slot, in plain types: the baseline's where the other has none."""
    return setting[side][slot] if setting[side][slot] != SAME else setting["baseline"][slot]


def _name(policy: Any) -> str:
    return policy if isinstance(policy, str) else next(iter(policy))


def _waves(setting: Setting) -> Any:
    """Return the law of the waves in plain types; None where a file or a trace says how many there are."""
    return setting["workload"].get("random_groups", {}).get("waves")


def _shift_probe(name: str, before: Any, **levers: Any) -> Any:
    """Return a probe by shifting with the levers that it has in common with another one."""
    common = policies("probe")[name].levers
    own = before[_name(before)] if isinstance(before, dict) else {}
    kept = {key: own[key] for key in ("direction", "encoding", "decode", "chain", "timing") if key in own}
    return {name: {**{key: value for key, value in kept.items() if key in common}, **levers}}


def _grouped(before: Any, groups: int) -> Any:
    if _name(before) == SampledRun.name:
        lengths = powers_and_halfway(groups)
        return _shift_probe(GroupedSampledRun.name, before, groups=groups, run_lengths=list(lengths))
    return _shift_probe(GroupedRun.name, before, groups=groups)


def _ungrouped(before: Any) -> Any:
    return _shift_probe(SampledRun.name if _name(before) == GroupedSampledRun.name else ExactRun.name, before)


def _sampled(before: Any, lengths: Sequence[int]) -> Any:
    if _name(before) == GroupedRun.name:
        groups = value_of(before, "groups")
        return _shift_probe(GroupedSampledRun.name, before, groups=groups, run_lengths=lengths)
    return _shift_probe(SampledRun.name, before, run_lengths=lengths)


def _unsampled(before: Any) -> Any:
    if _name(before) == GroupedSampledRun.name:
        return _shift_probe(GroupedRun.name, before, groups=value_of(before, "groups"))
    return _shift_probe(ExactRun.name, before)


def _within_backfill(before: Any, policy: Any) -> Any:
    """Return a policy in the place of another, behind which the queue may be filled up as it was."""
    return put(before, f"{Backfill.name}.upstream", policy) if _name(before) == Backfill.name else policy


def _usual_groups(setting: Setting) -> int:
    """Return a quarter of the blocks, as the source document has it, or the nearest number that can be (¶129)."""
    quarter = vgpr_blocks(setting) // 4
    return min(groups_allowed(setting), key=lambda groups: (abs(groups - quarter), groups))


def _report(probe: Any, blocks: int) -> Callable[[int], int]:
    """Return the report of a probe on a free run that begins with a group."""
    size, lengths = blocks // (value_of(probe, "groups") or blocks), value_of(probe, "run_lengths")

    def report(run: int) -> int:
        groups = run // size
        return size * (groups if lengths is None else max((one for one in lengths if one <= groups), default=0))

    return report


def _lengths_of(setting: Setting, policy: Any) -> list[int]:
    """Return the windows of a priority policy; none of one without."""
    lengths = value_of(policy, "lengths")
    return [] if lengths is None else lengths or _windows(setting)


def _lengths(setting: Setting, probe: Any) -> list[int]:
    """Return the powers and their halves up to as many blocks, or groups of blocks, as a probe tells apart."""
    return list(powers_and_halfway(value_of(probe, "groups") or vgpr_blocks(setting)))


def _windows(setting: Setting) -> list[int]:
    """Return the windows that a policy without lengths of its own has (spec 3, E8)."""
    law = setting["workload"].get("random_groups", {}).get("priority")
    levels = Law.read(law).span()[1] if law else LEVELS
    return [PriorityWindows.levers["shortest"].default * (levels - place) for place in range(levels)]
