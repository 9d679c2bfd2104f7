"""`methods.tex`: what was run and how it is judged, in sentences that are made from the sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.experiments.results import Results
from workbench.export.citations import Cited, presets_of, traces_of
from workbench.export.tex import escape
from workbench.figures.labels import measure_words, words
from workbench.levers import Spec
from workbench.machine.presets import preset
from workbench.number_text import FIGURE, MOST_DIGITS, number
from workbench.parts import file_and_name, is_in_file
from workbench.statistics.comparisons import family_of, workload_groups

_HEAD = "% How it was done, in sentences made from the sweep; keys of \\cite are those of references.bib.\n"
_SIZES = {
    True: "the geometric mean of the paired ratios, by Student's t on their logarithms, so that a speed-up above 1 "
    "means better than the baseline",
    False: "the mean of the paired differences, by Student's t, so that a positive one means better than the baseline",
}


def methods(runs: Results, entries: Sequence[Cited]) -> str:
    """Return the file's whole text: a paragraph each on the question, the setting, the policies and the statistics."""
    paragraphs = (_setting(runs, entries), _policies(runs, entries), _seeds(runs), _statistics(runs), _measures(runs))
    return _HEAD + "\n\n".join(" ".join(paragraph) for paragraph in paragraphs if paragraph) + "\n"


def _setting(runs: Results, entries: Sequence[Cited]) -> list[str]:
    engine = runs.plan.sweep.mechanism.engine
    question = str(runs.plan.sweep.config.get("question") or "").strip()
    opening = [f"We ask: {escape(question)}"] if question else []
    simulated = (
        f"All runs are simulated with the engine {escape(words(engine.name))} (revision {engine.revision}) of the "
        "GPU policy workbench~\\cite{gpu-policy-workbench}, all policies on the same requests."
    )
    return [*opening, simulated, *_machine(runs, entries), *_workload(runs, entries)]


def _machine(runs: Results, entries: Sequence[Cited]) -> Iterator[str]:
    machines = _different(runs, "machine")
    named = presets_of(runs)
    for name in named:
        one = preset(name, type(next(iter(machines.values())))) if machines else preset(name)
        yield f"The machine {escape(one.title)} is the preset {escape(name)}{_cites(entries, f'machine {name}')}."
    always = (*_varied_inside(runs, "machine"), *_named_by_the_sweep(runs, "machine"))
    levers = [_levers(spec, always) for spec in machines.values()]
    if not named and levers:
        more = " or ".join(dict.fromkeys(levers))
        yield f"The machine has {more}; what is not named is at its default."


def _workload(runs: Results, entries: Sequence[Cited]) -> Iterator[str]:
    workloads = _different(runs, "workload")
    always = _named_by_the_sweep(runs, "workload")
    each = list(dict.fromkeys(escape(words(spec.short(always))) for spec in workloads.values()))
    if each:
        word = "workload is" if len(each) == 1 else f"{len(each)} workloads are"
        yield f"The {word} {'; '.join(each)}; what is not named is at its default."
    for entry in traces_of(runs):
        cut = f", of which was changed: {escape(entry.changed)}" if entry.changed else ""
        source = f"{escape(entry.repository)} at commit {escape(entry.commit)} under {escape(entry.licence)}"
        cites = _cites(entries, f"trace {entry.name}")
        yield f"The trace {escape(entry.name)} ({escape(entry.holds)}) is public, from {source}{cut}{cites}."


def _policies(runs: Results, entries: Sequence[Cited]) -> list[str]:
    setups = [point.setup for point in runs.points if point.setup is not None]
    sentences = []
    for slot in sorted({slot for setup in setups for slot in setup.policies}):
        different = {one.setup.policies[slot] for one in runs.points if one.setup and slot in one.setup.policies}
        specs = sorted(different, key=lambda policy: policy.short())
        if len(specs) > 1:
            named = ", ".join(_policy(slot, spec, entries) for spec in specs)
            sentences.append(f"For {escape(words(slot))} we compare {len(specs)} policies: {named}.")
    fixed = [
        f"{escape(words(slot))} {_policy(slot, setups[0].policies[slot], entries)}"
        for slot in sorted(setups[0].policies if setups else ())
        if len({setup.policies.get(slot) for setup in setups}) == 1
    ]
    if fixed:
        sentences.append(f"The same in all runs: {', '.join(fixed)}.")
    baseline = runs.plan.sweep.config.get("baseline")
    if isinstance(baseline, dict):
        policies = ", ".join(
            f"{escape(words(str(slot)))} {escape(_policy_words(policy))}" for slot, policy in baseline.items()
        )
        sentences.append(f"The baseline has {policies}.")
    return sentences


def _policy(slot: str, policy: Any, entries: Sequence[Cited]) -> str:
    return escape(words(policy.short())) + _cites(entries, f"{slot} {policy.name}")


def _seeds(runs: Results) -> list[str]:
    sweep, count = runs.plan.sweep, len(runs.seeds)
    failed = len(runs.failures)
    result = [
        f"Every one of the {len(runs.points)} points is run with the same {count} "
        f"{'seeds' if count != 1 else 'seed'} ({_span(list(runs.seeds))}): at a seed all points of a workload meet the "
        "same requests, and comparisons are paired by seed."
    ]
    if sweep.until is not None:
        until = sweep.until
        result.append(
            f"Seeds were added {until.batch} at a time until every 95\\,\\% interval of the difference in "
            f"{escape(until.measure)} had a half width of at most {escape(until.half_width)}, twice in a row, and at "
            f"most {until.at_most}."
        )
    if failed:
        result.append(
            f"{failed} of {len(runs.rows)} runs failed and are left out; the tables say which pairs that costs."
        )
    return result


def _statistics(runs: Results) -> list[str]:
    sweep = runs.plan.sweep
    if len(runs.seeds) < 2:
        return ["With one seed there are no intervals and no tests: the numbers are those of single runs."]
    result = ["Means have 95\\,\\% intervals by Student's t."]
    if sweep.config.get("baseline") is not None:
        result += _comparisons(runs)
    return result


def _comparisons(runs: Results) -> Iterator[str]:
    """Yield the rules by which comparisons are judged, of what was used."""
    sweep, count = runs.plan.sweep, family_of(runs.plan).comparisons
    judged = [sweep.mechanism.measures[name] for name in sweep.measures]
    by_ratio = {kind: [one for one in judged if (one.compared_by == "ratio") is kind] for kind in _SIZES}
    for kind, measures in by_ratio.items():
        if named := [escape(measure_words(one)) for one in measures if one.better != "neither"]:
            yield f"The size of a comparison in {', '.join(named)} is {_SIZES[kind]}."
    yield "Its direction is judged by the exact two-sided sign test over the seeds at which the two differ."
    every = "the one comparison of this bundle" if count == 1 else f"all {count} comparisons of this bundle together"
    yield (
        f"Holm's method corrects both tests of {every}. A policy is called better or worse where both tests are below "
        "0.05 on one side. It is called so on average, or on most seeds, where one is."
    )
    if any(True for name in sweep.measures for _ in workload_groups(runs.plan, name)):
        yield (
            "Over workloads, which are fixed, the speed-up is the geometric mean of theirs, with the standard error of "
            "the means at each seed."
        )
    planned = len(sweep.seeds) if sweep.planned is None else sweep.planned
    yield (
        f"The first plan had {planned} seeds and gets 90\\,\\% of the error rate; any other number of seeds at which "
        "results are seen shares the rest, by mixture tests that hold at any time."
    )
    if any(one.least is not None for one in judged if one.better != "neither"):
        yield (
            "Two policies are called as good as equal where the 90\\,\\% interval of the size lies within the least "
            "effect that counts and no other word is earned."
        )


def _measures(runs: Results) -> list[str]:
    known = runs.plan.sweep.mechanism.measures
    each = []
    for name in runs.plan.sweep.measures:
        measure = known[name]
        better = "" if measure.better == "neither" else f", {measure.better} is better"
        unit = f" in {measure.unit}" if measure.unit else ""
        each.append(escape(f"{measure_words(measure)}{unit} ({measure.description}{better})"))
    return [f"Measured are: {'; '.join(each)}."] if each else []


def _different(runs: Results, part: str) -> dict[str, Spec]:
    """Return the different machines or workloads of the points, in their order, by what tells them apart."""
    setups = [point.setup for point in runs.points if point.setup is not None]
    return {getattr(setup, part).short(): getattr(setup, part) for setup in setups}


def _named_by_the_sweep(runs: Results, part: str) -> tuple[str, ...]:
    """Return the levers of a part that the sweep's file gives: what somebody wrote is named, be it the default."""
    config = runs.plan.sweep.config.get(part)
    return tuple(config) if isinstance(config, Mapping) else ()


def _varied_inside(runs: Results, part: str) -> tuple[str, ...]:
    return tuple(path.partition(".")[2].split(".")[0] for path in runs.varied if path.startswith(f"{part}."))


def _levers(spec: Spec, always: Sequence[str]) -> str:
    values = spec.values()
    named = {n: v for n, v in values.items() if n in always or v != spec.levers[n].default}
    each = [f"{escape(n.replace('_', ' '))} = {_value(spec, n, v)}" for n, v in named.items()]
    return ", ".join(each) or "all levers at their defaults"


def _value(spec: Spec, name: str, value: Any) -> str:
    unit = spec.levers[name].unit if spec.levers[name].unit != name else ""
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = number(value, MOST_DIGITS, FIGURE) if plain else str(spec.levers[name].shortly(value))
    return escape(f"{text} {unit}".strip() if plain else text)


def _policy_words(policy: Any) -> str:
    """Return a policy as a sweep says it, of `FILE.py:CLASS` the class alone: a bundle has the file elsewhere."""
    if isinstance(policy, dict):
        return ", ".join(f"{_policy_words(name)} ({_inside(levers)})" for name, levers in policy.items())
    return words(file_and_name(policy)[1] if is_in_file(policy) else str(policy))


def _inside(levers: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in levers.items()) if isinstance(levers, dict) else str(levers)


def _span(seeds: list[int]) -> str:
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds[:8])) + (f" and {len(seeds) - 8} more" if len(seeds) > 8 else "")


def _cites(entries: Sequence[Cited], part: str) -> str:
    """Return the citation of a part of the sweep, empty where it names no source."""
    keys = [one.work.key for one in entries if part in one.of]
    return f"~\\cite{{{','.join(keys)}}}" if keys else ""
