"""YAML as the workbench reads it: a mapping of plain values; a key that comes twice or a tag is refused."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

from workbench.errors import InputError, shown


def read_mapping(path: Path) -> dict[str, Any]:
    """The mapping that a YAML file holds.

    Raises
    ------
    InputError
        The file cannot be read, is not UTF-8, or is not what `parse_mapping` takes.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}).") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text, so it is no YAML file.") from None
    return parse_mapping(text, str(path))


def parse_mapping(text: str, where: str) -> dict[str, Any]:
    """The mapping that a YAML text holds, keys as strings.

    >>> parse_mapping("segments: 128", "drain.yaml")
    {'segments': 128}
    >>> parse_mapping("a: 1\\na: 2", "drain.yaml")
    Traceback (most recent call last):
    workbench.errors.InputError: drain.yaml: line 2: the key 'a' comes twice; keep one of them.
    """
    found = parse_value(text, where)
    if not isinstance(found, dict):
        raise InputError(f"{where}: must be a mapping of keys to values. Got {shown(found)}.")
    return found


def parse_value(text: str, where: str) -> Any:
    """The value of any kind that a YAML text holds.

    >>> parse_value("{vary: [1, 2]}", "--set seeds")
    {'vary': [1, 2]}
    """
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
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


def _line(mark: Any) -> str:
    return f"line {mark.line + 1}: " if mark is not None else ""


@cache
def _loader() -> Any:
    import yaml

    class Strict(yaml.SafeLoader):
        """The safe loader, which refuses a key that comes twice."""

    def mapping(loader: yaml.SafeLoader, node: yaml.MappingNode) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a plain word", key.start_mark)
            if key.value in seen:
                what = f"the key {key.value!r} comes twice; keep one of them"
                raise yaml.constructor.ConstructorError(None, None, what, key.start_mark)
            seen.add(key.value)
        loader.flatten_mapping(node)
        return {str(key): value for key, value in loader.construct_mapping(node, deep=True).items()}

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Strict
