"""The engine `translation`: cores with private TLBs, a network, directories, a shared TLB, walkers (spec 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from workbench.engines.engine import Setup, at_slot
from workbench.engines.first_runs import FirstRuns
from workbench.engines.translation.fitting import check_options
from workbench.engines.translation.options import TranslationOptions
from workbench.engines.translation.playing import Play
from workbench.engines.translation.prepare import plan_of
from workbench.engines.translation.recording import record_of
from workbench.errors import InputError, wrong_value
from workbench.levers import Spec
from workbench.machine import Described
from workbench.machine.translation_machine import TranslationMachine
from workbench.policies.policy import Policy
from workbench.records.translation import TranslationRecord
from workbench.streams import Streams

_first_runs = FirstRuns()
_ASKED = ("peer", "fill", "remote_fill", "eviction", "shared_eviction")


class Translation:
    """Address translation by the cores of a GPU."""

    name: ClassVar[str] = "translation"
    revision: ClassVar[int] = 3
    slots: ClassVar[Mapping[str, str]] = {
        "locate": "directory",
        "peer": "first_bit",
        "fill": "push_pair",
        "remote_fill": "always",
        "eviction": "lru",
        "shared_eviction": "lru",
    }
    options: ClassVar[type[Spec]] = TranslationOptions
    machine: ClassVar[type[Described]] = TranslationMachine
    wants: ClassVar[str] = "accesses"

    def asks(self, slot: str) -> str:
        """The question that the policy of a slot answers."""
        return "eviction" if slot == "shared_eviction" else slot

    def simulate(self, setup: Setup, seed: int, events: bool = False, checked: bool = False) -> TranslationRecord:
        """Serve the accesses of one seed to their end.

        Parameters
        ----------
        seed : int
            Names the workload's random streams and the policies' own.
        events : bool
            Keep every access, fill, push and eviction; what happens is the same.
        checked : bool
            Test every array index of the policies' compiled answers; the first run of a user's policy in a process
            always does.

        Raises
        ------
        InputError
            An access does not fit the machine, or a policy does not go with it.
        PolicyError
            A policy raised, gave an answer that its question does not allow, or never ended.
        """
        _check_policies(setup)
        check_options(setup)
        with _first_runs.watched(_asked(setup), checked) as checked:
            play = Play(setup, Streams(seed), events, checked)
            play.to_the_end()
        return record_of(play)

    def admit(self, setup: Setup, seed: int) -> None:
        """Refuse a setup whose policies do not go with its machine."""
        _check_policies(setup)
        _check_candidates(setup)
        check_options(setup)


def _asked(setup: Setup) -> list[Policy]:
    """The policies whose answers are compiled: of an eviction, the one that it is based on."""
    chosen: list[Any] = [setup.policies[slot] for slot in _ASKED]
    return [policy.base_policy() if policy.question == "eviction" else policy for policy in chosen]


def _check_policies(setup: Setup) -> None:
    """Refuse thresholds that no machine of this size can reach, and a directory smaller than its TLB."""
    with at_slot(setup, "locate"):
        closeness = plan_of(setup).affine_threshold
    cores, entries = setup.machine.cores, setup.machine.private_entries
    eviction: Any = setup.policies["eviction"]
    fill: Any = setup.policies["fill"]
    remote: Any = setup.policies["remote_fill"]
    scope = "policy.locate.directory.scope.own_plus_affine.threshold"
    for name, threshold, most, unit in (
        (f"policy.eviction.{eviction.name}.share_threshold", eviction.most_threshold(), cores, "cores"),
        (f"policy.fill.{fill.name}.fill_threshold", fill.most_threshold(), entries, "private_entries"),
        (f"policy.remote_fill.{remote.name}.threshold", remote.most_threshold(), entries, "private_entries"),
        (scope, closeness, entries, "private_entries"),
    ):
        if threshold > most:
            raise InputError(
                f"{name} must be at most {unit} ({most}), or it is never reached. Got {threshold}. Nearest: {most}."
            )
    shared: Any = setup.policies["shared_eviction"]
    if shared.most_threshold():
        what = f"policy.shared_eviction must not be {shared.name}"
        raise InputError(f"{what}: there is one shared TLB, with nobody to share.")


def _check_candidates(setup: Setup) -> None:
    """Refuse to examine more candidates than a set of a private TLB has entries."""
    eviction: Any = setup.policies["eviction"]
    examined, machine = eviction.protection()[1], setup.machine
    lever = "private_ways" if machine.private_ways else "private_entries"
    ways = machine.private_ways or machine.private_entries
    if examined > ways:
        name = f"policy.eviction.{eviction.name}.candidates"
        expected = f"must be at most {lever} ({ways}), all that a set holds"
        raise wrong_value("", name, expected, examined, ways)
