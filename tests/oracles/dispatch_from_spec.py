"""Play specification 3 (dispatching workgroups over modules) one cycle at a time, written from its sentences alone.

Nothing here was taken from the engine, from its policies or from an older twin: the numbers R1 to R82, V1 to V36 and E1
to E27 are those of docs/specification/3-dispatch.md. No cycle is skipped, nothing is kept between cycles but what a
sentence speaks of, and rates, shares and scores are exact fractions.

What the specification leaves open is listed by name in UNDEFINED, with what this file does there. The list was written
before any code of the project was read; where the engine reads such a case otherwise both readings are noted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor

UNDEFINED = {
    "order-within-a-cycle": "whether an end, an arrival and a round of one cycle see each other; here ends free "
    "first, then arrivals join, then the round is played",
    "life-of-a-dispatch": "which cycles a group occupies and executes in; here start to start + duration - 1",
    "cycles-of-a-probe": "whether a probe of several cycles (R38, R43) makes rounds rarer, a report older or a start "
    "later; first read as: rounds are as far apart as the larger of both; the engine says: round_cycles times "
    "probe_cycles",
    "rounds-without-heads": "whether a round with empty channels alone changes the failed count; here it does not",
    "draw": "which generator draws among equals (R10); here the lowest channel",
    "top-among-blocked": "under R15, whether a head of the highest priority that does not fit blocks another of the "
    "same that fits; here it does not, and the highest blocks only when none of its heads fits",
    "blocked-round-and-count": "whether a round that R15 wastes while a lower head fits is a failed one: literally "
    "not, for R22 says *no* head fits; the engine counts every round without a dispatch (blocked_round_fails)",
    "blocked-by-whom": "whether R15's highest goes by labels or by the order of the window; here by the order (R19)",
    "blocked-and-marks": "whether marks choose among R15's heads as well; here they do where both are asked for",
    "reset-value": "whether a reset count goes to 0 or to fail_init; first read as fail_init; the engine says 0",
    "split-without-per-wave": "how many sub-groups R25 makes where R26 does not hold; only per_wave is here",
    "flagged-group-of-one-wave": "whether it is split into itself; here it counts as not flagged (E11)",
    "life-of-a-sub-group": "how long a sub-group runs; here as long as its group",
    "divisible-shared": "how a divisible shared demand is rounded; here a wave's part is rounded up",
    "arrival-of-a-sub-group": "when a sub-group has arrived, for rules that ask for age; no rule here asks",
    "split-and-the-same-round": "whether sub-groups may go in the round that splits; here the next round reads them",
    "lowest-without-priorities": "where below_all stands under no_priority (E3: all groups have one label); first "
    "read as nowhere; the engine says: behind all, as E12 words it",
    "window-of-below-all": "whether E12's level behind p_S has a window or marks; here no window, marks of its own",
    "one-dispatch-more": "what dispatch_per_round above 1 reads after the first dispatch; not covered",
    "placement": "which start address a range gets (R12 points to spec 1); here the lowest that fits",
    "probe-of-shared": "whether module memory is read by the same probe as the registers (E6: contiguous); here it is",
    "unit-without-waves": "whether a unit that gets no wave must fit anything; here it need not",
    "stale-report-without-value": "what a dropped or never made report says (E18); not covered",
    "renewed-by-release": "which resources a release renews (E18); not covered",
    "mis-dispatch": "what a round does after its check at allocation failed (E18); not covered",
    "period-and-round": "how periods of Em. 7 fall on rounds; not covered",
    "run-of-a-module": "the longest run as r_h (R72) of a resource that lies in q units; not covered, the counter is "
    "used",
    "total-of-normalise": "what E19's total is; here what an empty module has, over all units",
    "equal-scores-min-max": "E20's norm where all candidates score the same; here 0 (it cannot change the order)",
    "round-robin-start": "where R82's turn stands and what it passes; here after the last module chosen, 0 at first",
    "most-free": "section 7's worst fit, best fit and least waves are names without a formula; not covered",
    "balanced-waves": "section 7's least loaded unit has no formula; Em. 8 alone is covered",
    "other-selectors": "ageing, deficit, lottery, stride, earliest deadline, oldest first: names alone; not covered",
    "group-too-large": "what becomes of a group that no empty module could hold; here it waits for ever (E24 refuses "
    "wx > qL only)",
    "per-wave-blocks": "how a report of one longest run decides about several ranges (E5's variant); not covered",
    "history-before-cycle-0": "E23 says no history is 0; cycles before 0 count as none executed",
}

CONTIGUOUS = ("vgpr", "sgpr")
RESOURCES = ("vgpr", "sgpr", "waves", "shared")
RATE_UNIT = 2**20


@dataclass
class Group:
    """Describe a workgroup: demands of registers are blocks a wave, the shared one is of the whole group."""

    name: object
    channel: int
    priority: int
    arrival: int
    waves: int
    vgpr: int
    sgpr: int
    shared: int
    duration: int
    independent: bool = False
    divisible: bool = False
    instructions: tuple = ()
    part: Fraction = Fraction(1)


@dataclass
class Rules:
    """Collect the levers; every default is what the specification says where nothing is chosen."""

    modules: int = 2
    units: int = 2
    sizes: dict = field(default_factory=lambda: {"vgpr": 16, "sgpr": 16, "waves": 8, "shared": 16})
    round_cycles: int = 1
    probe_cycles: int = 1
    levels: int = 4
    windows: tuple | None = None
    no_priority: bool = False
    strict_blocking: bool = False
    blocked_round_fails: bool = False
    marks: bool = True
    mark_on_single: bool = False
    clear_scope: str = "candidates"
    splits: bool = False
    fail_threshold: int = 256
    fail_init: int = 0
    split_priority: str = "inherit"
    pointer: str = "none"
    groups_of_probe: dict = field(default_factory=dict)
    samples_of_probe: dict = field(default_factory=dict)
    encoding: str = "free1"
    direction: str = "right"
    chooser: str = "first"
    residual_weights: dict = field(default_factory=lambda: dict.fromkeys(RESOURCES, 1))
    normalise: bool = False
    energy_weights: tuple = ()
    history_cycles: int = 16
    mix: Fraction = Fraction(1, 2)


# ---------------------------------------------------------------------------------------------- probes (Em. 4 to 6)


def shifted(state, places, direction, occupied):
    """Shift a list of flags; the vacated positions are occupied (R31)."""
    if direction == "right":
        return [occupied] * places + state[: len(state) - places]
    return state[places:] + [occupied] * places


def thermometer(free, ks, encoding, direction):
    """Form SAR at every sampled k from flags of free blocks (R31 to R33, R44)."""
    occupied = 0 if encoding == "free1" else 1
    state = [int(flag) if encoding == "free1" else 1 - int(flag) for flag in free]
    chain = list(state)
    answers = []
    for k in range(max(ks) + 1):
        step = shifted(state, k, direction, occupied)
        chain = [a & b if encoding == "free1" else a | b for a, b in zip(chain, step, strict=True)]
        if k in ks:
            answers.append(int(any(chain)) if encoding == "free1" else int(not all(chain)))
    return answers


def longest_run(free, groups=None, samples=None, encoding="free1", direction="right"):
    """Report the longest free run as the probe sees it: exactly, over groups, sampled, or both (R30 to R50)."""
    width = 1
    if groups is not None:
        width = len(free) // groups
        free = [all(free[z * width : (z + 1) * width]) for z in range(groups)]
    ks = list(range(len(free))) if samples is None else sorted(samples)
    answers = thermometer(list(free), ks, encoding, direction)
    for k, answer in reversed(list(zip(ks, answers, strict=True))):
        if answer:
            return (k + 1) * width
    return 0


# ------------------------------------------------------------------------------------------ waves over units (Em. 8)


def spread(waves, units):
    """Give the balanced row of the split table (R60)."""
    return [waves // units + (1 if unit < waves % units else 0) for unit in range(units)]


def turned(row, rotation):
    """Rotate a row: the entry of unit t goes to (t + rotation) mod q (R62)."""
    result = [0] * len(row)
    for unit, entry in enumerate(row):
        result[(unit + rotation) % len(row)] = entry
    return result


def pointer_step(kind, pointer, waves, units):
    """Answer the rotation of this round and the pointer after it (R63 to R65; section 4 on the literal formulas)."""
    if kind == "none":
        return 0, pointer
    if kind == "tail":
        return (pointer + 1) % units, (pointer + waves) % units
    if kind == "head":
        return pointer, (pointer + waves) % units
    extra = 1 if kind.startswith("head") else 0
    if kind.endswith("_a"):
        after = (pointer + waves + extra) % units
        if after == 0:
            after = pointer
    else:
        after = (pointer + (waves + extra) % units) % units
    return (after if extra else (after + 1) % units), after


# ------------------------------------------------------------------------------------------------ order of priorities


def order_of(cycle, levels, windows):
    """List the priorities from the top down in a cycle (R17, R18)."""
    order = list(range(1, levels + 1))
    if windows is None:
        return order
    if len(windows) != levels:
        raise ValueError("E8: as many windows as priorities")
    counter = cycle % sum(windows)
    for index, length in enumerate(windows):
        if counter < length:
            return [index + 1] + [level for level in order if level != index + 1]
        counter -= length
    raise AssertionError("the counter lies in a window")


def pick_by_marks(channels, marks, rules):
    """Choose one channel of equal candidates and keep the marks of their label (R9, R10, E2, E3); marks is a set."""
    if len(channels) == 1:
        if rules.mark_on_single and rules.marks:
            marks.add(channels[0])
        return channels[0]
    if not rules.marks:
        return min(channels)
    unmarked = [channel for channel in channels if channel not in marks]
    if unmarked:
        chosen = min(unmarked)
        marks.add(chosen)
        return chosen
    chosen = min(channels)
    for other in list(marks):
        if other != chosen and (rules.clear_scope == "all" or other in channels):
            marks.remove(other)
    return chosen


# ------------------------------------------------------------------------------------------------------------ the run


def rate_of(instructions, part, duration):
    """Round the rate of a dispatch once, halves up; return how many times 2^-20 a cycle it is (E23)."""
    return floor(Fraction(instructions) * part / duration * RATE_UNIT + Fraction(1, 2))


class Dispatcher:
    """Hold channels, modules, marks and counters of one run."""

    def __init__(self, rules, groups):
        """Empty all modules and sort the groups by arrival."""
        self.rules = rules
        self.waiting = sorted(groups, key=lambda group: group.arrival)  # stable: equals keep their order
        self.channels = {channel: [] for channel in sorted({group.channel for group in groups})}
        self.free = []
        for _ in range(rules.modules):
            module = {"shared": [True] * rules.sizes["shared"]}
            for resource in (*CONTIGUOUS, "waves"):
                module[resource] = [[True] * rules.sizes[resource] for _ in range(rules.units)]
            self.free.append(module)
        self.pointers = [0] * rules.modules
        self.marks = {}
        self.fail_rounds = rules.fail_init
        self.turn = 0
        self.running = []
        self.executed = [[] for _ in range(rules.modules)]
        self.dispatched = []
        self.counts = {"failed": 0, "splits": 0, "blocked": 0, "unlike_ties": 0}

    def run(self, last_cycle=1_000_000):
        """Play cycles until nothing waits and nothing runs; answer the dispatches in their order."""
        cycle = 0
        while self.waiting or any(self.channels.values()) or self.running:
            if cycle > last_cycle:
                raise RuntimeError(f"not over by cycle {last_cycle}")
            self.play_cycle(cycle)
            cycle += 1
        return self.dispatched

    def play_cycle(self, cycle):
        """Free what ends, take what arrives, play a round if one falls here, execute."""
        for record in [record for record in self.running if record["end"] == cycle]:
            self.release(record)
        while self.waiting and self.waiting[0].arrival <= cycle:
            group = self.waiting.pop(0)
            self.channels[group.channel].append(group)
        if cycle % (self.rules.round_cycles * self.rules.probe_cycles) == 0:
            self.play_round(cycle)
        for module in range(self.rules.modules):
            amounts = {}
            for record in self.running:
                if record["module"] == module:
                    for kind, rate in enumerate(record["rates"]):
                        amounts[kind] = amounts.get(kind, 0) + rate
            self.executed[module].append(amounts)

    def play_round(self, cycle):
        """Match all heads, choose a group and a module, assign; or count a failure (A1 to A5, C1 to C4)."""
        heads = {channel: queue[0] for channel, queue in self.channels.items() if queue}
        if not heads:
            return
        reports = self.probe()
        fitting = {}
        for channel, group in heads.items():
            places = [module for module in range(self.rules.modules) if self.fits(group, module, reports[module])]
            if places:
                fitting[channel] = places
        if not fitting:
            self.count_failure(heads)
            return
        order = order_of(cycle, self.rules.levels, self.rules.windows)
        order.append(self.rules.levels + 1)  # behind all (E12)
        label = {channel: self.label(group) for channel, group in heads.items()}
        rivals = heads if self.rules.strict_blocking else fitting
        top = min((label[channel] for channel in rivals), key=order.index)
        equals = [channel for channel in fitting if label[channel] == top]
        if not equals:
            self.counts["blocked"] += 1
            if self.rules.blocked_round_fails:
                self.count_failure(heads)
            return
        chosen = pick_by_marks(equals, self.marks.setdefault(top, set()), self.rules)
        module = self.choose_module(fitting[chosen], cycle)
        self.assign(self.channels[chosen].pop(0), module, cycle)

    def label(self, group):
        """Give the label of a group: all have one under no_priority, but for those below all (E3, E12)."""
        return 1 if self.rules.no_priority and group.priority <= self.rules.levels else group.priority

    # -------------------------------------------------------------------------------------------- reports and fitting

    def measure(self, module, resource):
        """Report one resource of a module as it is now: a number a unit, or one number for the shared one (R4)."""
        rules = self.rules
        state = self.free[module][resource]
        if resource == "waves":
            return [sum(unit) for unit in state]
        how = (rules.groups_of_probe.get(resource), rules.samples_of_probe.get(resource))
        if resource == "shared":
            return longest_run(state, *how, rules.encoding, rules.direction)
        return [longest_run(unit, *how, rules.encoding, rules.direction) for unit in state]

    def probe(self):
        """Make the reports of a round, one a module for all heads (R3)."""
        return [{name: self.measure(module, name) for name in RESOURCES} for module in range(self.rules.modules)]

    def row(self, group, module):
        """Spread the waves over the units of a module, turned by its pointer (R60 to R66)."""
        rotation, _ = pointer_step(self.rules.pointer, self.pointers[module], group.waves, self.rules.units)
        return turned(spread(group.waves, self.rules.units), rotation)

    def fits(self, group, module, report):
        """Compare every part with what its unit has left, and the shared demand with the module's (R5, R6)."""
        if report["shared"] < group.shared:
            return False
        for unit, waves in enumerate(self.row(group, module)):
            if waves == 0:
                continue
            if report["waves"][unit] < waves:
                return False
            if report["vgpr"][unit] < waves * group.vgpr or report["sgpr"][unit] < waves * group.sgpr:
                return False
        return True

    # -------------------------------------------------------------------------------------------- choice of a module

    def left(self, module, resource):
        """Count what a module has of a resource: total, less what is allocated (R72)."""
        state = self.free[module][resource]
        return sum(state) if resource == "shared" else sum(sum(unit) for unit in state)

    def residual_score(self, module):
        """Weigh what is left (R70, E19)."""
        score = Fraction(0)
        for resource in RESOURCES:
            amount = Fraction(self.left(module, resource))
            if self.rules.normalise:
                total = self.rules.sizes[resource] * (1 if resource == "shared" else self.rules.units)
                amount = amount / total if total else Fraction(0)
            score += Fraction(self.rules.residual_weights[resource]) * amount
        return score

    def energy_score(self, module, cycle):
        """Weigh what was executed in the nx cycles before this one (R75, R76, E23)."""
        score = Fraction(0)
        for past in range(max(0, cycle - self.rules.history_cycles), cycle):
            for kind, amount in self.executed[module][past].items():
                score += Fraction(self.rules.energy_weights[kind]) * Fraction(amount, RATE_UNIT)
        return score

    def choose_module(self, places, cycle):
        """Choose one of the modules that fit; ties go to the lowest index (R69 to R82, E19, E20)."""
        rules = self.rules
        if rules.chooser == "first":
            return places[0]
        if rules.chooser == "round_robin":
            chosen = min(places, key=lambda module: (module - self.turn) % rules.modules)
            self.turn = (chosen + 1) % rules.modules
            return chosen
        scores = self.scores(places, cycle)
        best = [module for module in places if scores[module] == max(scores.values())]
        kinds = {tuple(self.left(module, resource) for resource in RESOURCES) for module in best}
        self.counts["unlike_ties"] += len(kinds) > 1
        return min(best)

    def scores(self, places, cycle):
        """Score the modules that fit, the largest best: by what is left, by what was executed, or both (R81, E20)."""
        if self.rules.chooser != "energy":
            residual = {module: self.residual_score(module) for module in places}
        if self.rules.chooser == "residual":
            return residual
        thrift = {module: -self.energy_score(module, cycle) for module in places}
        if self.rules.chooser == "energy":
            return thrift

        def norm(scores, module):
            """Map a score to 0..1 over the candidates; that of thrift is 1 - the norm of the energy."""
            low, high = min(scores.values()), max(scores.values())
            return Fraction(0) if low == high else (scores[module] - low) / (high - low)

        mix = self.rules.mix
        return {module: (1 - mix) * norm(residual, module) + mix * norm(thrift, module) for module in places}

    # -------------------------------------------------------------------------------------------- assignment and ends

    def take(self, state, amount):
        """Allocate [start, amount) at the lowest start that fits (R12)."""
        for start in range(len(state) - amount + 1):
            if all(state[start : start + amount]):
                state[start : start + amount] = [False] * amount
                return list(range(start, start + amount))
        raise AssertionError("no room for what fits")

    def assign(self, group, module, cycle):
        """Allocate, start, and move the pointer of this module alone (R12, R67)."""
        held = []
        row = self.row(group, module)
        for unit, waves in enumerate(row):
            for resource in CONTIGUOUS:
                state = self.free[module][resource][unit]
                held.append((state, self.take(state, waves * getattr(group, resource))))
            slots = [slot for slot, flag in enumerate(self.free[module]["waves"][unit]) if flag][:waves]
            for slot in slots:
                self.free[module]["waves"][unit][slot] = False
            held.append((self.free[module]["waves"][unit], slots))
        state = self.free[module]["shared"]
        held.append((state, self.take(state, group.shared)))
        _, self.pointers[module] = pointer_step(
            self.rules.pointer, self.pointers[module], group.waves, self.rules.units
        )
        rates = [rate_of(amount, group.part, group.duration) for amount in group.instructions]
        record = {"group": group.name, "module": module, "start": cycle, "end": cycle + group.duration}
        record |= {"rates": rates, "held": held, "row": row}
        self.running.append(record)
        self.dispatched.append(record)
        self.fail_rounds = 0  # E9

    def release(self, record):
        """Give back what a dispatch held."""
        for state, places in record["held"]:
            for place in places:
                state[place] = True
        self.running.remove(record)

    # ------------------------------------------------------------------------------------------------ stuck (Em. 3)

    def count_failure(self, heads):
        """Count a round in which no head fits; beyond the threshold split all flagged heads (R22 to R29, E9 to E12)."""
        rules = self.rules
        self.counts["failed"] += 1
        self.fail_rounds = min(self.fail_rounds + 1, rules.fail_threshold + 1)
        if not rules.splits or self.fail_rounds <= rules.fail_threshold:
            return
        flagged = [channel for channel, group in heads.items() if group.independent and group.waves > 1]
        for channel in flagged:
            whole = self.channels[channel].pop(0)
            self.channels[channel][0:0] = self.sub_groups(whole)
        if flagged:
            self.counts["splits"] += len(flagged)
            self.fail_rounds = 0

    def sub_groups(self, whole):
        """Make each wave a sub-group (R26, R27, E12)."""
        priority = {
            "inherit": whole.priority,
            "lowest": self.rules.levels,
            "below_all": self.rules.levels + 1,
        }[self.rules.split_priority]
        shared = -(-whole.shared // whole.waves) if whole.divisible else whole.shared
        part = whole.part / whole.waves
        return [
            replace(whole, name=(whole.name, wave), waves=1, shared=shared, priority=priority, part=part)
            for wave in range(whole.waves)
        ]
