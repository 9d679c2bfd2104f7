"""YAML as the workbench reads it: a mapping of plain values; a key that comes twice or a tag is refused."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from workbench.errors import InputError, shown, unreadable

MOST_BYTES = 1 << 24
_MERGE = "tag:yaml.org,2002:merge"
MOST_VALUES, MOST_DEPTH = 1_000_000, 100
"""Of a mapping with its aliases written out; the largest sweeps have a few thousand, seven deep."""


def read_mapping(path: Path) -> dict[str, Any]:
    """Read the mapping that a YAML file holds.

    Raises
    ------
    InputError
        The file cannot be read, is a pipe or a device, is larger than 16 MiB, is not UTF-8, or is not what
        `parse_mapping` takes.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise InputError(f"{path}: is a pipe or a device; copy what it gives into a file.")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"{path}: is larger than {MOST_BYTES >> 20} MiB, which no such file is.")
        text = content.decode("utf-8-sig")
    except OSError as problem:
        raise unreadable(path, problem) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text, so it is no YAML file.") from None
    return parse_mapping(text, str(path))


def parse_mapping(text: str, where: str) -> dict[str, Any]:
    """Parse the mapping that a YAML text holds, keys as strings.

    >>> parse_mapping("segments: 128", "drain.yaml")
    {'segments': 128}
    >>> parse_mapping("a: 1\\na: 2", "drain.yaml")
    Traceback (most recent call last):
    workbench.errors.InputError: drain.yaml: line 2: the key 'a' comes twice; keep one of them.
    """
    value = parse_value(text, where)
    if value is None:
        raise InputError(f"{where}: is empty, or holds comments alone; it must be a mapping of keys to values.")
    if not isinstance(value, dict):
        raise InputError(f"{where}: must be a mapping of keys to values. Got {shown(value)}.")
    return value


def parse_value(text: str, where: str) -> Any:
    """Parse the value of any kind that a YAML text holds.

    >>> parse_value("{vary: [1, 2]}", "--set seeds")
    {'vary': [1, 2]}
    """
    import yaml

    try:
        result = yaml.load(text, Loader=_loader())
    except yaml.constructor.ConstructorError as problem:
        raise InputError(f"{where}: {_line(problem.problem_mark)}{problem.problem}.") from None
    except yaml.MarkedYAMLError as problem:
        cure = " Put a name that has brackets in quotes." if str(problem.problem).endswith("got '['") else ""
        raise InputError(f"{where}: {_line(problem.problem_mark)}is not YAML: {problem.problem}.{cure}") from None
    except yaml.YAMLError as problem:
        raise InputError(f"{where}: is not YAML: {' '.join(str(problem).split())}.") from None
    except ValueError as problem:  # a number of more digits than Python converts, the 13th month
        raise InputError(f"{where}: holds a number or a date that cannot be read: {problem}.") from None
    except RecursionError:
        raise InputError(f"{where}: is nested too deeply.") from None
    return checked_size(result, where)


def checked_size(values: Any, where: str) -> Any:
    """Return plain values as they are, if they are no more than a sweep can have once aliases are written out.

    Each list and mapping is counted once, however often it stands somewhere.

    Raises
    ------
    InputError
        They are nested too deeply, hold themselves, or are too many; the sentence says how many.

    Examples
    --------
    >>> lists = [0]
    >>> for _ in range(9):
    ...     lists = [lists] * 9
    >>> checked_size(lists, "bomb.yaml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: bomb.yaml: stands for ... values with its aliases written out, more than ...
    """
    count, _ = _size(values, where, {}, 0)
    if count > MOST_VALUES:
        raise InputError(
            f"{where}: stands for {count:,} values with its aliases written out, more than {MOST_VALUES:,}."
        )
    return values


def _size(node: Any, where: str, known: dict[int, tuple[int, int] | None], depth: int) -> tuple[int, int]:
    """Return the number of values of a node, and its depth of nesting."""
    if not isinstance(node, (Mapping, list, tuple)):
        return 1, 0
    result = known.get(id(node), (0, 1))
    if result is None:
        raise InputError(f"{where}: holds itself: an alias stands inside what it names.")
    if depth + result[1] > MOST_DEPTH:
        raise InputError(f"{where}: is nested more than {MOST_DEPTH} deep.")
    if not result[0]:
        known[id(node)] = None
        inner = node.values() if isinstance(node, Mapping) else node
        sizes = [_size(value, where, known, depth + 1) for value in inner]
        result = 1 + sum(count for count, _ in sizes), 1 + max((deep for _, deep in sizes), default=0)
        known[id(node)] = result
    return result


def _line(mark: Any) -> str:
    return f"line {mark.line + 1}: " if mark is not None else ""


@cache
def _loader() -> Any:
    import yaml

    def refusal(what: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
        return yaml.constructor.ConstructorError(None, None, what, node.start_mark)

    class Strict(yaml.SafeLoader):
        """The safe loader, which refuses a key that comes twice and bounds the keys that `<<` merges."""

        merged = 0
        """How many keys all mappings with `<<` have so far, each as often as it is named."""

        def flatten_mapping(self, node: Any) -> None:
            """Write out in a mapping what `<<` names: its own keys win, then those of what is named first."""
            if hasattr(node, "key_count"):
                return
            own: dict[str, Any] = {}
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    raise refusal("a key must be a plain word", key)
                if key.value in own:
                    raise refusal(f"the key {key.value!r} comes twice; keep one of them", key)
                own[key.value] = key, value
            node.key_count = len(own)
            values = [value for key, value in own.values() if key.tag == _MERGE]
            named = [one for value in values for one in (value.value[::-1] if value.id == "sequence" else [value])]
            for one in named:
                if one.id != "mapping":
                    raise refusal(f"expected a mapping or list of mappings for merging, but found {one.id}", one)
                self.flatten_mapping(one)
                node.key_count += one.key_count
            if values:
                self.merged += node.key_count
                if self.merged > MOST_VALUES:
                    raise refusal("merges too many keys (<<)", node)
                pairs = [pair for one in (*named, node) for pair in one.value if pair[0].tag != _MERGE]
                node.value = list({pair[0].value: pair for pair in pairs}.values())
            super().flatten_mapping(node)

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Hashable, Any]:
        return {str(key): value for key, value in loader.construct_mapping(node, deep=True).items()}

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Strict
