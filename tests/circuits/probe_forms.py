"""Every probe in every form that has a circuit, with sizes that it can be built for."""

from itertools import product

from workbench.policies.policy import read_policy
from workbench.policies.probes import BitSerial, PrefixSuffixTree, Probe, SharedRun, ShiftDoubling

SHIFTING = {
    "exact_run": {},
    "grouped_run": {"groups": 8},
    "sampled_run": {},
    "grouped_sampled_run": {"groups": 8},
}
FORMS = {
    "direction": ("right", "left"),
    "encoding": ("free1", "free0"),
    "decode": ("lut", "scan"),
    "chain": ("running", "doubling"),
    "timing": ("comb_1cycle", "pipe_3cycle"),
}


def shifting() -> list[Probe]:
    """Return the probes by shifting, in all of their forms."""
    settings = [dict(zip(FORMS, values, strict=True)) for values in product(*FORMS.values())]
    probes = [{name: {**levers, **form}} for name, levers in SHIFTING.items() for form in settings]
    return [read_policy("probe", probe) for probe in probes]


def on_one_hardware() -> list[Probe]:
    """Return the grouped probe on one set of gates for three cycles, in all of its other forms."""
    forms = [dict(zip(FORMS, values, strict=True)) for values in product(*[*FORMS.values()][:-1], ("comb_1cycle",))]
    timing = {"groups": 8, "timing": "pipe_3cycle_shared_hw"}
    return [read_policy("probe", {"grouped_run": {**form, **timing}}) for form in forms]


def rivals() -> list[Probe]:
    """Return the probes that work otherwise."""
    stepped = [kind(timing=timing) for kind in (ShiftDoubling, PrefixSuffixTree) for timing in TIMINGS]
    return [BitSerial(), *stepped]


TIMINGS = ("comb_1cycle", "step_a_cycle")


def shared() -> list[Probe]:
    """Return the shared probe in all of its forms."""
    forms = product(("right", "left"), ("free1", "free0"), ("lut", "scan"), ("every_shift", "first_crossing"))
    names = ("direction", "encoding", "decode", "masks")
    return [SharedRun(width=16, **dict(zip(names, form, strict=True))) for form in forms]
