"""The settings of PyTorch's allocator that advice tries: a grid of what people set, then what Optuna proposes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from workbench.engines.torch_allocator.settings import INTERVALS, AllocatorSettings

SPLITS = (0, 32, 64, 128, 256, 512, 1024)
DRAWN_SPLITS = (0, 21, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048)
"""21 is the least that every version of PyTorch takes, see `AllocatorSettings`."""
DIVISIONS = (0, 2, 4, 8, 16)
DEFAULTS = AllocatorSettings.parse("")
"""PyTorch's own."""
EXPANDABLE = DEFAULTS.but(expandable_segments=True)
"""Expandable segments alone: what is recommended most."""
Score = Callable[[AllocatorSettings], tuple[int, int]]
"""What is to be small: the peak of reserved bytes, then driver calls."""


def grid(own: AllocatorSettings) -> list[AllocatorSettings]:
    """Return the recorded settings, PyTorch's defaults, and every combination of a few values of each lever.

    >>> [settings.conf for settings in grid(AllocatorSettings())[:3]]
    ['', 'expandable_segments:True', 'roundup_power2_divisions:2']
    """
    settings = [own, DEFAULTS, EXPANDABLE]
    settings += [_with(0, divisions, False) for divisions in DIVISIONS[1:]]
    settings += [_with(0, divisions, True) for divisions in DIVISIONS[1:]]
    settings += [_with(split, divisions, False) for split, divisions in itertools.product(SPLITS[1:], (0, 4, 8))]
    return list(dict.fromkeys(settings))


def _with(split: int, divisions: int, expandable: bool) -> AllocatorSettings:
    return DEFAULTS.but(
        max_split_size_mb=split,
        roundup_power2_divisions=(divisions,) * INTERVALS,
        expandable_segments=expandable,
    )


def sample_with_tpe(score: Score, known: dict[AllocatorSettings, tuple[int, int]], trials: int) -> None:
    """Let Optuna propose so many settings, the same each time; those that it tries are entered in `known`."""
    import optuna

    from workbench.tuning.samplers import quiet

    with quiet():
        study = optuna.create_study(directions=["minimize", "minimize"], sampler=optuna.samplers.TPESampler(seed=0))
        for _ in range(trials):
            trial = study.ask()
            settings = _drawn(trial)
            if settings not in known:
                known[settings] = score(settings)
            study.tell(trial, known[settings])


def _drawn(trial: object) -> AllocatorSettings:
    """Return the settings as a trial of Optuna proposes them: sizes of several classes rounded apart, any limit of
    splitting."""
    suggest = trial.suggest_categorical  # type: ignore[attr-defined]
    expandable = suggest("expandable_segments", [False, True])
    split = 0 if expandable else suggest("max_split_size_mb", list(DRAWN_SPLITS))
    rounding = suggest("max_non_split_rounding_mb", [20, 64, 256]) if split else 20
    return DEFAULTS.but(
        max_split_size_mb=split,
        max_non_split_rounding_mb=rounding,
        roundup_power2_divisions=tuple(_steps(suggest)),
        expandable_segments=expandable,
    )


def _steps(suggest: Callable[..., int]) -> Iterator[int]:
    """Yield three classes of sizes: below 16 MiB, below 256 MiB, above."""
    for name, length in (("below_16_mib", 4), ("below_256_mib", 4), ("above", INTERVALS - 8)):
        yield from [suggest(f"divisions_{name}", [0, 2, 4, 8, 16])] * length
