"""What PYTORCH_ALLOC_CONF sets of PyTorch's caching allocator, as levers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.engines.torch_allocator.state import MIB, UNLIMITED, Rules
from workbench.errors import InputError, shown
from workbench.levers import Spec, lever
from workbench.structures.size_index import NONE

INTERVALS = 16
SEGMENT = 20
"""PyTorch's large_segment_size_mb where nothing is said (kLargeBuffer), and the least limit that it takes then."""
LEAST_SEGMENT = 11
"""What PyTorch takes as large_segment_size_mb at the least: more than 10 MiB, from where a request has its own."""
VARIABLES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF")
"""The environment variables that PyTorch looks for, in its order (AllocatorConfig.cpp). The last is read by the newest
versions alone (pytorch#183387, #149601); the first by all for CUDA."""
UNKNOWN_CARD = 1 << 40
"""For how large a card expandable segments reserve addresses where the card is not known: 1 TiB."""

_IN_CONF = (
    "max_split_size_mb",
    "max_non_split_rounding_mb",
    "garbage_collection_threshold",
    "expandable_segments",
    "large_segment_size_mb",
)
_SEGMENT, _ROUNDING = "large_segment_size_mb", "max_non_split_rounding_mb"
_SIZES = (_SEGMENT, "max_split_size_mb", _ROUNDING)
_LEVER_OF = {"per_process_memory_fraction": "per_process_fraction"}
_READ = (*_IN_CONF, "roundup_power2_divisions", *_LEVER_OF)


class AllocatorSettings(Spec):
    """The settings of PyTorch's caching allocator that decide what it gets from the driver.

    What PyTorch refuses is refused. The rules are those of the versions that know `large_segment_size_mb`
    (pytorch#172056). Segments are larger than 10 MiB. `max_split_size_mb` and `max_non_split_rounding_mb` are no less
    than `large_segment_size_mb`, and the latter is as large where nothing is said. A threshold of collection lies
    between 0 and 1. Divisions are powers of two; in a list they may be 0. Earlier versions have segments of 20 MiB, and
    those that read settings in CUDAAllocatorConfig.cpp take only a `max_split_size_mb` above 20, so advice proposes
    none of 20.

    Examples
    --------
    >>> AllocatorSettings(max_split_size_mb=128, expandable_segments=True).conf
    'max_split_size_mb:128,expandable_segments:True'
    >>> AllocatorSettings.parse("roundup_power2_divisions:[256:1,512:2,>:4]").roundup_power2_divisions[-1]
    4

    References
    ----------
    PyTorch, c10/core/AllocatorConfig.cpp (parseLargeSegmentSize, parseMaxSplitSize, parseMaxNonSplitRoundingSize,
    parseGarbageCollectionThreshold, parseRoundUpPower2Divisions), before that c10/cuda/CUDAAllocatorConfig.cpp;
    docs/source/notes/cuda.rst, "Optimizing memory usage with PYTORCH_ALLOC_CONF".
    """

    max_split_size_mb: int = lever(
        0,
        least=0,
        most=1 << 24,
        unit="MiB",
        description="blocks at least so large are not split, no less than large_segment_size_mb; 0 = all may be",
    )
    max_non_split_rounding_mb: int = lever(
        SEGMENT,
        least=LEAST_SEGMENT,
        most=1 << 24,
        unit="MiB",
        description="by how much a block that may not be split may be too large for what it serves, no less than "
        "large_segment_size_mb",
    )
    roundup_power2_divisions: tuple[int, ...] = lever(
        (0,) * INTERVALS,
        description="steps between two powers of two to which requests are rounded up, from below 2 MiB to 32 GiB and "
        "more; 0 or 1 = to 512 B",
    )
    garbage_collection_threshold: float = lever(
        0.0,
        least=0,
        most=0.999,
        step=0.01,
        description="share of the allowed memory above which idle segments go back; 0 = never, without "
        "per_process_fraction too",
    )
    expandable_segments: bool = lever(False, description="whether segments grow page by page in reserved addresses")
    large_segment_size_mb: int = lever(
        SEGMENT,
        least=LEAST_SEGMENT,
        most=1 << 20,
        unit="MiB",
        description="segment or page for requests above 1 MiB and below 10 MiB",
    )
    per_process_fraction: float = lever(
        1.0,
        least=0,
        most=1,
        step=0.01,
        description="share of the card that the process may get (set_per_process_memory_fraction); 1 = no limit",
    )
    search_after_flush: bool = lever(
        False,
        description="whether free blocks are searched once more after all cached memory went back (PyTorch does not: "
        "pytorch#189504)",
    )

    def check(self) -> None:
        wrong = [it for it in self.roundup_power2_divisions if it < 0 or it & (it - 1)]
        if wrong or len(self.roundup_power2_divisions) != INTERVALS:
            raise InputError(
                f"roundup_power2_divisions must be {INTERVALS} powers of two, or 0. "
                f"Got {shown(list(self.roundup_power2_divisions))}."
            )
        given = {name: getattr(self, name) for name in _SIZES if getattr(self, name) != self.levers[name].default}
        _check_sizes(given, f"{self.name}.")

    @property
    def rounding_mb(self) -> int:
        """Return by how much a block that may not be split may be too large: as `max_non_split_rounding_mb` says, at
        least a segment.

        >>> AllocatorSettings(large_segment_size_mb=64).rounding_mb
        64
        """
        return max(self.max_non_split_rounding_mb, self.large_segment_size_mb)

    @property
    def conf(self) -> str:
        """Return the value of PYTORCH_ALLOC_CONF that sets the same; what it cannot set is left out.

        >>> AllocatorSettings(garbage_collection_threshold=0.8, per_process_fraction=0.9).conf
        'garbage_collection_threshold:0.8'
        """
        settings = {**{name: getattr(self, name) for name in _IN_CONF}, _ROUNDING: self.rounding_mb}
        usual = {**{name: self.levers[name].default for name in _IN_CONF}, _ROUNDING: self.large_segment_size_mb}
        pairs = [f"{name}:{value}" for name, value in settings.items() if value != usual[name]]
        divisions = _divisions_text(self.roundup_power2_divisions)
        return ",".join(pairs + ([f"roundup_power2_divisions:{divisions}"] if divisions else []))

    @classmethod
    def parse(cls, conf: str, **values: Any) -> AllocatorSettings:
        """Read a value of PYTORCH_ALLOC_CONF as PyTorch does; what does not concern device memory is passed over.

        Parameters
        ----------
        conf : str
            Such as ``max_split_size_mb:128,roundup_power2_divisions:[256:1,>:4]``.
        **values
            Levers that the text does not set.

        Raises
        ------
        InputError
            A value is none that PyTorch takes.
        """
        levers: dict[str, Any] = {}
        for key, value in _pairs(conf):
            if key in _READ:
                levers[_LEVER_OF.get(key, key)] = _read(key, value)
        _check_sizes(levers)
        rounding = {_ROUNDING: levers[_SEGMENT]} if _SEGMENT in levers else {}
        return cls(**{**rounding, **values, **levers})

    @classmethod
    def recorded(cls, reply: Mapping[str, Any]) -> AllocatorSettings:
        """Read what a snapshot says under `allocator_settings`; what it does not say is as PyTorch has it by default.

        Examples
        --------
        >>> AllocatorSettings.recorded({"max_split_size": 134217728, "expandable_segments": True}).max_split_size_mb
        128
        """
        conf = next((reply[name] for name in VARIABLES if reply.get(name)), "")
        try:
            settings = cls.parse(conf if isinstance(conf, str) else "")
        except InputError:
            settings = cls.parse("")
        levers = _levers_of(reply, settings.large_segment_size_mb)
        return settings.but(**{name: value for name, value in levers.items() if value is not None})

    def rules(self, private: np.ndarray, card_bytes: int | None = None, stops: bool = False) -> Rules:
        """Return the settings as the numbers that the loop works by.

        Parameters
        ----------
        private : int64[owners]
            The number of each owner's private pool, 0 = none.
        card_bytes : int, optional
            Bytes of the card that the allocator may get; without it the card never runs out, and what is a share of
            the card has no effect.
        stops : bool
            Whether the first request that cannot be served ends the run.
        """
        card = UNLIMITED if card_bytes is None else card_bytes
        limits = card_bytes is not None and self.per_process_fraction < 1
        allowed = math.floor(self.per_process_fraction * card) if limits else NONE
        collects = limits and self.garbage_collection_threshold > 0
        return Rules(
            max_split=self.max_split_size_mb * MIB or UNLIMITED,
            rounding=self.rounding_mb * MIB,
            collect_above=math.floor(self.garbage_collection_threshold * allowed) if collects else NONE,
            allowed=allowed,
            expandable=int(self.expandable_segments),
            large_segment=self.large_segment_size_mb * MIB,
            card=card,
            reach=_with_an_eighth(UNKNOWN_CARD if card_bytes is None else card_bytes),
            searches_again=int(self.search_after_flush),
            stops=int(stops),
            divisions=np.array(self.roundup_power2_divisions, np.int64),
            private=np.ascontiguousarray(private, np.int64),
        )


def _check_sizes(levers: Mapping[str, Any], where: str = "") -> None:
    """Refuse a segment that is too small, and limits that are below the size of a segment.

    Parameters
    ----------
    levers : mapping
        Those that are set.
    where : str
        What stands before the name of a lever in the sentence.
    """
    segment = levers.get(_SEGMENT, SEGMENT)
    for key, size in {_SEGMENT: LEAST_SEGMENT, "max_split_size_mb": segment, _ROUNDING: segment}.items():
        if key in levers and levers[key] < size:
            why = "" if size in (LEAST_SEGMENT, SEGMENT) else f", as {_SEGMENT} is"
            raise InputError(f"{where}{key} must be at least {size}{why}. Got {levers[key]}. Nearest: {size}.")


def _with_an_eighth(size: int) -> int:
    return size + size // 8


def _divisions_text(divisions: tuple[int, ...]) -> str:
    """Return one number where all are alike, else a list of where they change; empty if nothing is rounded.

    The first size of a list stands for all smaller ones too, `>` for all larger ones than the last; what no size stands
    for is not rounded.

    >>> _divisions_text((16,) * 4 + (0,) * 12), _divisions_text((0,) * 8 + (4,) * 8)
    ('[8:16]', '[128:0,>:4]')
    """
    if len(set(divisions)) == 1:
        return str(divisions[0]) if divisions[0] > 1 else ""
    first = next(k for k, it in enumerate(divisions) if it != divisions[0]) - 1
    tail = INTERVALS - next(k for k, it in enumerate(divisions[::-1]) if it != divisions[-1])
    middle = [f"{1 << k}:{divisions[k]}" for k in range(first + 1, tail) if divisions[k] or k == tail - 1]
    end = [f">:{divisions[-1]}"] if divisions[-1] else []
    return f"[{','.join([f'{1 << first}:{divisions[0]}', *middle, *end])}]"


def _pairs(conf: str) -> list[tuple[str, str]]:
    """Return the keys and values of a text; commas within brackets part no pairs."""
    parts = re.findall(r"([^,:\[\]\s]+)\s*:\s*(\[[^\]]*\]|[^,\[\]]*)", conf)
    return [(key, value.strip()) for key, value in parts]


def _read(key: str, value: str) -> Any:
    try:
        if key == "roundup_power2_divisions":
            return _divisions(value)
        if key == "garbage_collection_threshold" and not 0 < float(value) < 1:
            raise ValueError
        if key == "expandable_segments":
            return {"True": True, "False": False}[value]
        return float(value) if key in ("garbage_collection_threshold", "per_process_memory_fraction") else int(value)
    except (ValueError, KeyError, IndexError):
        raise InputError(f"{key} has a value that PyTorch does not take. Got {shown(value)}.") from None


def _divisions(value: str) -> tuple[int, ...]:
    """Return one number for all sizes, or a list of ``megabytes:number`` whose last may be ``>:number``."""
    if not value.startswith("["):
        return (_power_of_two(value),) * INTERVALS
    divisions, last = [0] * INTERVALS, -1
    for part in value.strip("[]").split(","):
        size, number = part.split(":")
        steps = int(number) and _power_of_two(number)
        if size.strip() == ">":
            rest = max(last, 0) + 1
            divisions[rest:] = [steps] * (INTERVALS - rest)
            continue
        place = min(_power_of_two(size).bit_length() - 1, INTERVALS - 1)
        if last < 0:
            divisions[:place] = [steps] * place
        divisions[place], last = steps, place
    return tuple(divisions)


def _power_of_two(text: str) -> int:
    """Return the number that a text is; raise ValueError unless it is a power of two."""
    number = int(text)
    if number < 1 or number & (number - 1):
        raise ValueError
    return number


def variable_of(settings: Mapping[str, Any]) -> str:
    """Return the environment variable to set: the one that a snapshot's own settings name, else that of its card's
    maker, which every version of PyTorch reads.

    >>> variable_of({"PYTORCH_ALLOC_CONF": ""}), variable_of({"release_lock_on_hipmalloc": False}), variable_of({})
    ('PYTORCH_ALLOC_CONF', 'PYTORCH_HIP_ALLOC_CONF', 'PYTORCH_CUDA_ALLOC_CONF')
    """
    named = [name for name in VARIABLES if name in settings]
    if named:
        return named[0]
    return VARIABLES[1] if any("hip" in str(key).lower() for key in settings) else VARIABLES[0]


def _levers_of(settings: Mapping[str, Any], segment: int) -> dict[str, Any]:
    """Return the levers that a snapshot tells, None = it does not, or what no allocator with such segments has."""
    split, share = settings.get("max_split_size"), settings.get("garbage_collection_threshold")
    grows, steps = settings.get("expandable_segments"), settings.get("roundup_power2_divisions")
    return {
        "max_split_size_mb": split // MIB if isinstance(split, int) and segment * MIB <= split < 1 << 44 else None,
        "garbage_collection_threshold": float(share) if isinstance(share, float) and 0 < share < 1 else None,
        "expandable_segments": grows if isinstance(grows, bool) else None,
        "roundup_power2_divisions": _steps_of(steps) if isinstance(steps, Mapping) else None,
    }


def _steps_of(steps: Mapping[Any, Any]) -> tuple[int, ...] | None:
    divisions = tuple(steps.get(str(1 << k), 0) for k in range(INTERVALS))
    return divisions if all(isinstance(it, int) and it >= 0 and not it & (it - 1) for it in divisions) else None
