"""Slow, obvious twins of the measures of a dispatcher: every cycle is walked, every group looked at.

Written from the sentences of spec 3 (R3, R68, R75, R76, E23, section 6) and of the measures; shares no code with them.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

CLASSES = range(6)


def dispatches(record: Any) -> list[dict[str, Any]]:
    """Every dispatch with what it takes and when."""
    result = []
    for k, group in enumerate(record.group.tolist()):
        begin = int(record.cycle[k])
        waves = sum(record.sent[k].tolist())
        result.append(
            {
                "group": group,
                "module": int(record.module[k]),
                "sent": record.sent[k].tolist(),
                "waves": waves,
                "cycles": range(begin, begin + int(record.duration[group])),
                "channel": int(record.channel[group]),
                "level": int(record.level[k]),
                "taken": [_taken(record, k, group, waves, r) for r in range(len(record.resources))],
            }
        )
    return result


def _taken(record: Any, dispatch: int, group: int, waves: int, resource: int) -> int:
    need = int(record.demand[group][resource])
    if record.of_unit[resource]:
        return need * waves
    if record.resources[resource] == "barriers":
        return int(waves > 1)
    return math.ceil(need * waves / int(record.waves[group])) if record.shared_out[dispatch] else need


def hang_measures(record: Any) -> dict[str, float]:
    """Count what never starts and what waits at a barrier in a run that hangs, dispatch by dispatch (spec 7, R18)."""
    between, names = record.between, ("groups_never_started", "groups_of_kernels_that_lack", "groups_at_barrier")
    if between is None or between.hung_at_cycle < 0:
        return {**dict.fromkeys(names, 0.0), "hung_at_cycle": math.nan}
    missing, waiting = dict(enumerate(record.waves.tolist())), set()
    for k, group in enumerate(record.group.tolist()):
        if between.start[k] >= 0:
            missing[group] -= sum(record.sent[k].tolist())
            if between.begin[k] < 0 and between.end[k] < 0:
                waiting.add(group)
    never = {group for group, waves in missing.items() if waves > 0}
    kernels = {between.kernel[group] for group in never}
    lacking = [group for group in missing if between.kernel[group] in kernels]
    counts = (len(never), len(lacking), len(waiting - never))
    return {**dict(zip(names, map(float, counts), strict=True)), "hung_at_cycle": float(between.hung_at_cycle)}


def makespan(record: Any) -> int:
    return max((d["cycles"].stop for d in dispatches(record)), default=0)


def waits(record: Any) -> dict[int, int]:
    last = {}
    for d in dispatches(record):
        last[d["group"]] = d["cycles"].start
    return {group: cycle - int(record.arrival[group]) for group, cycle in last.items()}


def wait_measures(record: Any) -> dict[str, float]:
    wait = waits(record)
    counts = [[d["group"] for d in dispatches(record)].count(g) for g in wait]
    result = _of_waits([*wait.values()], "")
    for level in range(1, record.levels + 1):
        result.update(_of_waits([w for g, w in wait.items() if record.priority[g] == level], f"[{level}]"))
    whole = [w for (_, w), parts in zip(wait.items(), counts, strict=True) if parts == 1]
    return {**result, "wait_unsplit_mean_cycles": sum(whole) / len(whole) if whole else math.nan}


def _of_waits(values: list[int], part: str) -> dict[str, float]:
    ordered = sorted(values)
    p99 = next((w for k, w in enumerate(ordered, 1) if 100 * k >= 99 * len(ordered)), math.nan)
    return {
        f"wait_mean_cycles{part}": sum(values) / len(values) if values else math.nan,
        f"wait_p99_cycles{part}": p99,
        f"wait_max_cycles{part}": max(values, default=math.nan),
    }


def utilisations(record: Any) -> list[list[list[int]]]:
    """Blocks that are taken: by cycle, module and resource."""
    held = [[[0] * len(record.resources) for _ in range(record.modules)] for _ in range(makespan(record))]
    for d in dispatches(record):
        for cycle in d["cycles"]:
            for resource, amount in enumerate(d["taken"]):
                held[cycle][d["module"]][resource] += amount
    return held


def balance_measures(record: Any) -> dict[str, float]:
    held, modules = utilisations(record), range(record.modules)
    room = [int(b) * (record.units if of_unit else 1) for b, of_unit in zip(record.blocks, record.of_unit, strict=True)]
    names = dict(enumerate(record.resources))
    exact = {
        r: Fraction(sum(held[c][m][r] for c in range(len(held)) for m in modules), len(held) * record.modules * room[r])
        for r in names
    }
    busiest = max(names, key=lambda r: (exact[r], -r))
    whole = {r: float(share) for r, share in exact.items()}
    shares = [sum(now[m][busiest] for now in held) / (len(held) * room[busiest]) for m in modules]
    variances = [_variance([now[m][busiest] / room[busiest] for m in modules]) for now in held]
    return {
        "utilisation": whole[busiest],
        **{f"utilisation[{name}]": whole[r] for r, name in names.items()},
        "utilisation_cv": math.sqrt(_variance(shares)) / whole[busiest] if whole[busiest] else math.nan,
        "utilisation_cv_over_time": (
            math.sqrt(sum(variances) / len(variances)) / whole[busiest] if whole[busiest] else math.nan
        ),
        **_spreads(record),
    }


def _variance(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / len(values)


def _spreads(record: Any) -> dict[str, float]:
    sent = [[0] * record.units for _ in range(record.modules)]
    most = 0
    for d in dispatches(record):
        for unit, waves in enumerate(d["sent"]):
            sent[d["module"]][unit] += waves
        most = max([most, *(max(units) - min(units) for units in sent)])
    return {
        "unit_spread": sum(max(units) - min(units) for units in sent) / record.modules,
        "unit_spread_max": most,
    }


def service_measures(record: Any) -> dict[str, float]:
    """Lags of the channels that compete, dispatch by dispatch; gaps by counting between two services."""
    every = dispatches(record)
    lag: dict[tuple[int, int], float] = {}
    variances, gaps = [], []
    for k, now in enumerate(every):
        waiting = {}
        for channel in range(record.channels):
            coming = [d for d in every[k:] if d["channel"] == channel]
            if coming and coming[0]["level"] == now["level"] and _arrived(record, coming[0], now):
                waiting[channel] = coming[0]
        if len(waiting) > 1:
            for channel in waiting:
                at = channel, now["level"]
                lag[at] = lag.get(at, 0) + (channel == now["channel"]) - 1 / len(waiting)
            variances.append(_variance([lag[channel, now["level"]] for channel in waiting]))
        later = [j for j in range(k + 1, len(every)) if every[j]["channel"] == now["channel"]]
        if later and every[later[0]]["level"] == now["level"] and _arrived(record, every[later[0]], now):
            gaps.append(sum(d["level"] == now["level"] for d in every[k + 1 : later[0] + 1]))
    return {
        "service_variance": sum(variances) / len(variances) if variances else math.nan,
        "service_gap_max": max(gaps, default=math.nan),
    }


def _arrived(record: Any, dispatch: dict[str, Any], now: dict[str, Any]) -> bool:
    return bool(record.arrival[dispatch["group"]] <= now["cycles"].start)


def refusal_measures(record: Any) -> dict[str, float]:
    groups = range(len(record.arrival))
    share = {
        g: max(
            int(need) * (int(record.waves[g]) if of_unit else 1) / (int(blocks) * (record.units if of_unit else 1))
            for need, blocks, of_unit in zip(record.demand[g], record.blocks, record.of_unit, strict=True)
        )
        for g in groups
    }
    ordered = sorted(share.values())
    least = next((s for k, s in enumerate(ordered, 1) if 4 * k >= 3 * len(ordered)), math.nan)
    large = [g for g in groups if share[g] >= least]
    stood = [_head_cycles(record, g) for g in large]
    return {
        "refused_rate": _refused(record, [*groups]),
        "large_refused_rate": _refused(record, large),
        "large_head_wait_mean_cycles": sum(stood) / len(stood) if stood else math.nan,
    }


def _refused(record: Any, groups: list[int]) -> float:
    refused = sum(int(record.refused[g]) for g in groups)
    served = sum(d["group"] in groups for d in dispatches(record))
    return refused / (refused + served) if served else math.nan


def _head_cycles(record: Any, group: int) -> int:
    """Count the cycles at which a group has arrived, is not wholly dispatched, and none before it in its channel is
    waiting still."""
    last = {d["group"]: d["cycles"].start for d in dispatches(record)}
    before = [g for g in range(group) if record.channel[g] == record.channel[group]]
    return sum(all(last[g] <= cycle for g in before) for cycle in range(int(record.arrival[group]), last[group]))


def rates(record: Any, d: dict[str, Any]) -> list[int]:
    """Return the rate of a dispatch by class (E23): its waves' share of the group's instructions, evenly over its life,
    rounded once, to 2^-20 a cycle, halves up."""
    group, duration = d["group"], len(d["cycles"])
    share = Fraction(d["waves"], int(record.waves[group]))
    exact = [int(record.instructions[group][s]) * share / duration for s in CLASSES]
    return [math.floor(rate * 2**20 + Fraction(1, 2)) for rate in exact]


def energies(record: Any) -> list[list[float]]:
    """Picojoules of instructions, by cycle and module; a cycle more than there are is never asked for."""
    each = record.power.energies_pj().tolist()
    counts = [[[0] * 6 for _ in range(record.modules)] for _ in range(makespan(record))]
    for d in dispatches(record):
        rate = rates(record, d)
        for cycle in d["cycles"]:
            for s in CLASSES:
                counts[cycle][d["module"]][s] += rate[s]
    return [[sum(n * e for n, e in zip(module, each, strict=True)) / 2**20 for module in now] for now in counts]


def power_measures(record: Any, window: int) -> dict[str, float]:
    spent, idle, modules = energies(record), record.power.idle(), range(record.modules)
    hertz = record.clock_mhz * 1e6
    joules = math.fsum(e for now in spent for e in now) * 1e-12 + idle * record.modules * len(spent) / hertz
    powers, lengths = [], []
    for begin in range(0, len(spent), window):
        now = spent[begin : begin + window]
        powers.append([idle + math.fsum(c[m] for c in now) * 1e-12 / (len(now) / hertz) for m in modules])
        lengths.append(len(now))
    mean = sum(n * sum(p) for n, p in zip(lengths, powers, strict=True)) / (len(spent) * record.modules)
    variance = sum(n * _variance(p) for n, p in zip(lengths, powers, strict=True)) / len(spent)
    return {
        "energy_joules": joules,
        "power_mean_watts": mean,
        "power_cv": math.sqrt(variance) / mean if mean else math.nan,
        "power_peak_over_mean": max(max(p) for p in powers) / mean if mean else math.nan,
    }


def heat_measures(record: Any) -> dict[str, float]:
    """One network of modules, stepped with the matrices of the thermal model."""
    spent, idle, modules = energies(record), record.power.idle(), range(record.modules)
    step = record.heat.cycles()
    keeps, gains = (m.tolist() for m in record.heat.matrices(record.modules, record.clock_mhz))
    heat, spreads, peak = [0.0] * record.modules, [], 0.0
    for begin in range(0, len(spent), step):
        now = spent[begin : begin + step]
        power = [idle + math.fsum(c[m] for c in now) * 1e-12 * record.clock_mhz * 1e6 / step for m in modules]
        heat = [sum(keeps[m][o] * heat[o] + gains[m][o] * power[o] for o in modules) for m in modules]
        spreads.append(max(heat) - min(heat))
        peak = max(peak, *heat)
    return {"temperature_spread_k": sum(spreads) / len(spreads), "temperature_peak_k": peak}


def energy_prediction(record: Any) -> float:
    """Pearson's correlation of pairs whose means over the modules are 0."""
    spent, nx, modules = energies(record), record.history_cycles, range(record.modules)
    sums = []
    for begin in range(0, len(spent) - nx + 1, nx):
        of_module = [math.fsum(spent[c][m] for c in range(begin, begin + nx)) for m in modules]
        mean = sum(of_module) / record.modules
        sums.append([0.0 if math.isclose(e, mean, rel_tol=1e-9) else e - mean for e in of_module])
    both = itertools.pairwise(sums)
    pairs = [(a, b) for past, coming in both for a, b in zip(past, coming, strict=True)]
    scale = math.sqrt(sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs))
    return sum(a * b for a, b in pairs) / scale if scale else math.nan
