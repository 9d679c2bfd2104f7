"""The engine `translation`: cores with private TLBs, a network, directories, a shared TLB, walkers (spec 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.engines.kit import Attempt, Simulator, Stop
from workbench.engines.translation.admission import check_candidates, check_options, check_policies, plan_of
from workbench.engines.translation.counters import COUNT, FAULT
from workbench.engines.translation.options import TranslationOptions
from workbench.engines.translation.playing import Play, words
from workbench.engines.translation.recording import record_of
from workbench.engines.translation.slots import Case, Reading, Slots
from workbench.engines.translation.state import State
from workbench.machine.translation import TranslationMachine
from workbench.policies.policy import Policy
from workbench.records.translation import TranslationRecord


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

    def asked(self, run: Reading) -> list[Policy]:
        """Return the policies whose answers are compiled: of an eviction, the one that it is based on."""
        _, peer, fill, remote, eviction, shared = run.given.slots
        return [peer, fill, remote, eviction.base_policy(), shared.base_policy()]

    def begin(self, run: Reading, attempt: Attempt) -> Play:
        return Play(run, attempt)

    def loop(self, play: Play) -> None:
        play.to_the_end()

    def words(self, run: Reading, state: State, stop: Stop) -> Mapping[str, Any]:
        return words(stop)

    def record(self, run: Reading, play: Play) -> TranslationRecord:
        return record_of(play)
