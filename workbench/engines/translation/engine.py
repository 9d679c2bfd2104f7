"""The engine `translation`: cores with private TLBs, a network, directories, a shared TLB, walkers (spec 4).

A setup is checked, its run is played in stretches of the compiled loop, between which rows are handed in and arrays
grow, and its arrays become a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit import FINE, STOP, Attempt, Simulator, Stop, policy_error, stop_of
from workbench.engines.kit.engine import at_slot
from workbench.engines.translation.growth import may_forget, with_pages, with_room, without_unknown_pages
from workbench.engines.translation.loop import play_in_order, play_warps
from workbench.engines.translation.options import (
    Case,
    Slots,
    TranslationOptions,
    check_bypass,
    check_order,
    check_reach,
)
from workbench.engines.translation.page_table import check_sizes
from workbench.engines.translation.prepare import Reading, new_state, policies_of, rules_of, with_shortcuts
from workbench.engines.translation.state import (
    COLUMNS_OVER_TIME,
    COUNT,
    FAULT,
    KINDS_OF_SERVICE,
    STEPS_AN_OCTAVE,
    Policies,
    Rows,
    Rules,
    Run,
    State,
)
from workbench.engines.translation.trace import PIECE, Trace, left_over, no_rows, together
from workbench.errors import InputError, wrong_value
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import Policy
from workbench.policies.translation.locate import Plan
from workbench.records.translation import (
    ACCESS,
    EXACT_LATENCIES,
    OVER_TIME,
    SERVED_BY,
    WITHOUT_MIDDLE,
    TranslationRecord,
)
from workbench.structures.key_index import has_room as has_number
from workbench.structures.key_index import with_room as with_number


class Translation(Simulator[TranslationRecord]):
    """Address translation by the cores of a GPU."""

    name = "translation"
    revision = 6
    decides = Slots
    options = TranslationOptions
    machine = TranslationMachine
    workload_kind = "accesses"
    state, counts, faults = State, COUNT, FAULT

    def check_levers(self, given: Case) -> None:
        check_policies(given, plan_of(given))
        check_options(given.options, given.machine)
        check_candidates(given)

    def read(self, given: Case) -> Reading:
        """Refuse policies that do not go with the machine; the trace is read as it is played."""
        plan = plan_of(given)
        check_policies(given, plan)
        check_options(given.options, given.machine)
        return Reading(given, plan)

    def compiled_policies(self, run: Reading) -> list[Policy]:
        """Return the policies whose answers are compiled: of an eviction, the one that it is based on."""
        _, peer, fill, remote, eviction, shared = run.given.slots
        return [peer, fill, remote, eviction.base_policy(), shared.base_policy()]

    def begin(self, run: Reading, attempt: Attempt) -> Play:
        return new_play(run, attempt)

    def loop(self, play: Play) -> None:
        play.to_the_end()

    def words(self, run: Reading, state: State, stop: Stop) -> Mapping[str, Any]:
        return words(stop)

    def record(self, run: Reading, play: Play) -> TranslationRecord:
        return record_of(play)


def plan_of(case: Case) -> Plan:
    """Return the numbers of the TLBs that are asked before the shared TLB; refuse a directory smaller than its TLB."""
    with at_slot(case.setup, "locate"):
        return case.slots.locate.plan(case.machine.private_entries)


def check_policies(case: Case, plan: Plan) -> None:
    """Refuse thresholds that no machine of this size can reach."""
    cores, entries = case.machine.cores, case.machine.private_entries
    _, _, fill, remote, eviction, shared = case.slots
    scope = "policy.locate.directory.scope.own_plus_affine.threshold"
    for name, threshold, most, unit in (
        (f"policy.eviction.{eviction.name}.share_threshold", eviction.most_threshold(), cores, "cores"),
        (f"policy.fill.{fill.name}.fill_threshold", fill.most_threshold(), entries, "private_entries"),
        (f"policy.remote_fill.{remote.name}.threshold", remote.most_threshold(), entries, "private_entries"),
        (scope, plan.affine_threshold, entries, "private_entries"),
    ):
        if threshold > most:
            raise InputError(
                f"{name} must be at most {unit} ({most}), or it is never reached. Got {threshold}. Nearest: {most}."
            )
    if shared.most_threshold():
        what = f"policy.shared_eviction must not be {shared.name}"
        raise InputError(f"{what}: there is one shared TLB, without a peer to share with.")


def check_candidates(case: Case) -> None:
    """Refuse to examine more candidates than a set of a private TLB has entries."""
    eviction, machine = case.slots.eviction, case.machine
    examined = eviction.protection()[1]
    lever = "private_ways" if machine.private_ways else "private_entries"
    ways = machine.private_ways or machine.private_entries
    if examined > ways:
        name = f"policy.eviction.{eviction.name}.candidates"
        expected = f"must be at most {lever} ({ways}), all that a set holds"
        raise wrong_value("", name, expected, examined, ways)


def check_options(options: TranslationOptions, machine: TranslationMachine) -> None:
    """Refuse more entries than memory is meant for, and options that ask for what the machine has not.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    check_entries(machine)
    check_sizes(options.page_sizes, machine)
    check_order(options.walk_order, machine)
    check_bypass(options.bypass, options.inclusive, machine)
    if machine.middle_pages > 1 or machine.shared_pages > 1:
        check_reach(options, machine)


MOST_PRIVATE = 1 << 26
"""Entries of all private TLBs together, and of all middle ones: 4 GiB of memory, 64 bytes each."""


def check_entries(machine: TranslationMachine) -> None:
    """Refuse private or middle TLBs that together have more entries than there is to be memory for."""
    _check_entries(machine, "private_entries", machine.cores, "cores")
    if machine.middle_entries:
        _check_entries(machine, "middle_entries", len(machine.groups), "groups")


def _check_entries(machine: TranslationMachine, name: str, tlbs: int, whose: str) -> None:
    given, most = getattr(machine, name), MOST_PRIVATE // tlbs
    if given > most:
        expected = f"must be at most {most:,} with {tlbs:,} {whose}, {MOST_PRIVATE:,} in all"
        raise wrong_value("", f"{machine.name}.{name}", expected, given, most)


MOST_NEW = 2048
"""Pages that a part has space for, besides those that it knows, at least."""


class PartRules(NamedTuple):
    """What is told of a run as a part of a larger simulation, besides issues and answers."""

    walks_wait: int
    keeps_rows: int


def new_play(run: Reading, attempt: Attempt, part: PartRules | None = None) -> Play:
    """Return a run in which nothing has happened; of a part somebody else asks for the accesses, one by one."""
    trace, rules = Trace(run.given), rules_of(run, attempt.events)
    if part:
        rules = rules._replace(**part._asdict(), keeps_answers=1, warps=0, gap_cycles=0)
    policies, rules = policies_of(run, rules, attempt.checked), with_shortcuts(rules, run)
    state = with_room(rules, new_state(rules, run.plan, run.given.machine, trace.numbers, attempt.room["logged"]))
    play = Play(run.given, trace, policies, rules, state)
    if part:
        play.make_room_for_page()
    return play


class Play:
    """The state of one run, and its trace."""

    def __init__(self, given: Case, trace: Trace, policies: Policies, rules: Rules, state: State) -> None:
        self.given, self.trace, self.policies, self.rules, self.state = given, trace, policies, rules, state

    def to_the_end(self) -> None:
        """Serve every row.

        Raises
        ------
        PolicyError
            A policy raised, or gave an answer that its question does not allow.
        """
        if self.rules.warps:
            self._as_warps_are_free()
        else:
            self._in_order()

    def run(self, rows: Rows) -> Run:
        """Return the view of kernels, with the rows that are known."""
        return Run(self.rules, self.policies, self.state, rows)

    def grow(self, more: int = 0) -> None:
        """Make space for every page that has a number, and so many more."""
        self.rules, self.state = with_pages(self.rules, self.state, self.policies.plan, self.trace.numbers, more)

    def make_room_for_page(self) -> None:
        """Make space for one more page, and for what one more event brings about."""
        if self._is_full():
            self.forget_pages()
            self.trace.numbers = with_number(self.trace.numbers, self._spare())
            self.grow(more=self._spare())
        self._make_room()

    def forget_pages(self) -> None:
        """Let pages that nothing knows any more have no number, where no other part knows pages by their numbers."""
        if self.trace.numbers.given[0] and may_forget(self.rules, self.policies):
            self.trace.numbers, self.state = without_unknown_pages(self.rules, self.state, self.trace.numbers)

    def _is_full(self) -> bool:
        numbers, room = self.trace.numbers, self.state.held.size // self.rules.words
        return not has_number(numbers) or bool(numbers.given[0] >= room)

    def _spare(self) -> int:
        """Return the number of further pages to make space for: as many as there are, so that pauses are few."""
        return max(int(self.trace.numbers.given[0]), MOST_NEW)

    def _in_order(self) -> None:
        for rows in self.trace.pieces_in_order():
            self._note_last_access(rows)
            self._play_piece(rows)
        self.state.counters[COUNT.ended] = 1
        self._play_piece(no_rows())

    def _note_last_access(self, rows: Rows) -> None:
        accesses = np.flatnonzero(~rows.unmap)[-1:] if rows.unmap.size else [-1]
        # At most one value: a piece may consist of unmappings.
        for last in accesses:
            self.state.counters[COUNT.last_start] = rows.cycle[last]

    def _play_piece(self, rows: Rows) -> None:
        self.grow()
        # Outside of `play`: after a pause for space, the piece continues at its row.
        self.state.counters[COUNT.row] = 0
        self.play(lambda: play_in_order(self.run(rows)))

    def _as_warps_are_free(self) -> None:
        pieces, rows, ended = self.trace.pieces(), no_rows(), False
        while not ended:
            rows, ended = self._more(rows, pieces)
            self.state.counters[COUNT.ended] = ended
            self.grow()
            self._play_warps(rows)

    def _play_warps(self, rows: Rows) -> None:
        self.play(lambda: play_warps(self.run(rows)))

    def _more(self, rows: Rows, pieces: Iterator[Rows]) -> tuple[Rows, bool]:
        """Return the rows that are left and as many again, so that a row is moved a few times at most; and whether that
        is all."""
        left, new, wanted = left_over(rows, self.state.next_row), list[Rows](), 1
        while wanted > 0:
            piece = next(pieces, None)
            if piece is None:
                break
            new.append(piece)
            wanted = max(left.cycle.size, PIECE) - sum(part.cycle.size for part in new)
        if new:
            self.state.counters[COUNT.stream_cycle] = new[-1].cycle[-1]
        return together(left, new, self.state.next_row), wanted > 0

    def play(self, stretch: Callable[[], None]) -> None:
        """Play a stretch again and again until it does not end for lack of space."""
        stretch()
        while self._after_a_stretch() == FAULT.needs_room:
            self._make_room()
            stretch()

    def _after_a_stretch(self) -> int:
        counters = self.state.counters
        stop = stop_of(counters)
        if stop.fault not in _PAUSES:
            raise policy_error(FAULT, self.given.slots, stop, words(stop))
        counters[STOP.fault] = FINE
        return stop.fault

    def _make_room(self) -> None:
        self.state = with_room(self.rules, self.state)


_PAUSES = (FINE, FAULT.needs_rows, FAULT.needs_room)
"""Ends of a stretch after which the run goes on."""


def words(stop: Stop) -> dict[str, str]:
    """Return the place where a run stopped: its cycle, and its core where it is of one."""
    whose = "" if stop.row < 0 else f", core {stop.row}"
    return {"where": f"at cycle {stop.cycle}{whose}"}


_TOTALS = {
    "first_cycle": COUNT.first_cycle,
    "last_cycle": COUNT.last_cycle,
    "shared_accesses": COUNT.shared_accesses,
    "walks": COUNT.walks,
    "walk_levels": COUNT.walk_levels,
    "walk_queue_cycles": COUNT.walk_queued,
    "walks_joined": COUNT.walks_joined,
    "fills": COUNT.fills,
    "evictions": COUNT.evictions,
    "refused_fills": COUNT.refused_fills,
    "bypassed_entries": COUNT.bypassed_entries,
    "pushes": COUNT.pushes,
    "pushes_used": COUNT.pushes_used,
    "pushes_unused": COUNT.pushes_unused,
    "remote_requests": COUNT.remote,
    "stale": COUNT.stale,
    "noc_queue_cycles": COUNT.noc_queued,
    "noc_trips": COUNT.noc_trips,
    "port_wait_cycles": COUNT.port_wait,
    "mshr_wait_cycles": COUNT.mshr_wait,
    "shootdowns": COUNT.shootdowns,
    "shot_down": COUNT.shot_down,
    "samples": COUNT.samples,
    "last_start": COUNT.last_start,
    "walk_queue_latency": COUNT.queued_latency,
    "mshr_stalls": COUNT.mshr_stalls,
}
"""Of the record's totals, the counter of each."""


def record_of(play: Play) -> TranslationRecord:
    """Return the record of a run that is over."""
    state, rules = play.state, play.rules
    machine, options = play.given.machine, play.given.options
    total: dict[str, int] = {name: int(state.counters[k]) for name, k in _TOTALS.items()}
    bins, beyond = np.flatnonzero(state.latency), len(OVER_TIME) - len(SERVED_BY)
    services = len(SERVED_BY) if rules.groups else WITHOUT_MIDDLE
    columns = services + beyond
    return TranslationRecord(
        cores=rules.cores,
        private_entries=rules.private_entries,
        shared_entries=rules.shared_entries,
        page_bytes=machine.page_bytes * options.pages_an_entry,
        clock_mhz=machine.clock_mhz,
        network=machine.network,
        served=state.served.reshape(-1, KINDS_OF_SERVICE)[:, :services].copy(),
        latency_cycles=_least_of_bins(bins),
        latency_counts=state.latency[bins],
        latency_sums=state.spent[:services].copy(),
        messages=state.messages,
        window_cycles=1 << int(state.counters[COUNT.window_bits]),
        over_time=_until_the_last(state.over_time.reshape(-1, COLUMNS_OVER_TIME)[:, :columns].copy()),
        degrees=state.degrees,
        pairs=state.pair_sums.reshape(rules.cores, rules.cores),
        log=_with_pages(state.log, play.trace),
        walkers=rules.walkers + rules.cores * rules.software_walks,
        walk_cycles=_walk_cycles(rules, state.counters),
        middle_accesses=int(state.counters[COUNT.middle_accesses]) if rules.groups else None,
        **total,
    )


def _walk_cycles(rules: Rules, counters: np.ndarray) -> int:
    """Return the cycles of all walks, by walkers of the machine and by cores."""
    walks, levels = int(counters[COUNT.software_begun]), int(counters[COUNT.software_levels])
    by_walkers = (int(counters[COUNT.walk_levels]) - levels) * rules.level_cycles
    return by_walkers + walks * rules.software_start + levels * rules.software_level


def _least_of_bins(bins: np.ndarray) -> np.ndarray:
    """Return the least latency that each bin counts."""
    octave, step = np.divmod(np.maximum(bins - EXACT_LATENCIES, 0), STEPS_AN_OCTAVE)
    return np.where(bins < EXACT_LATENCIES, bins, (step + STEPS_AN_OCTAVE) << (octave + 6))


def _until_the_last(windows: np.ndarray) -> np.ndarray:
    """Return the windows until the last one in which something happened."""
    used = np.flatnonzero(windows.any(axis=1))
    return windows[: used[-1] + 1 if used.size else 0]


def _with_pages(log: np.ndarray, trace: Trace) -> np.ndarray:
    """Return the log with the trace's pages in place of short numbers: of an entry that covers several, the first."""
    short = log[:, 1] != ACCESS
    log[short, 3] = trace.tags.first_pages(trace.numbers.pages[log[short, 3]])
    return log
