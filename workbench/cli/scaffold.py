"""`workbench new policy` and `new preset`: files to begin with.

A policy file and its test, both of which pass as written; a machine preset's file to fill in, each figure with what it
means.
"""

from __future__ import annotations

import argparse
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.main import DONE
from workbench.errors import InputError, unknown_name

if TYPE_CHECKING:
    from workbench.levers import Lever
    from workbench.policies.policy import Policy


TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".py.txt"
QUESTIONS = sorted(
    path.name.removesuffix(SUFFIX) for path in TEMPLATES.glob(f"*{SUFFIX}") if path.name != f"test{SUFFIX}"
)


def _arguments_of_new_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", help=f"one of {', '.join(QUESTIONS)}")
    parser.add_argument("name", metavar="NAME", help="the policy's name, such as my_fit")
    parser.add_argument("--into", metavar="DIR", default=".", help="where to write the two files (default: here)")


def _run_new_policy(given: argparse.Namespace) -> int:
    policy, test = write_policy(given.question, given.name, Path(given.into))
    print(f"wrote {policy} and {test}")
    print(f"try it:  python -m pytest {test}")
    print(f"use it:  workbench run SWEEP --set policy.{given.question}={policy}:{class_name(given.name)}")
    return DONE


def write_policy(question: str, name: str, folder: Path) -> tuple[Path, Path]:
    """Write a policy that answers a question, and its test; both pass as they are.

    Raises
    ------
    InputError
        There is no such question, the name is no plain snake_case word or is taken, a file is in the way, or the folder
        cannot be written to.
    """
    if question not in QUESTIONS:
        raise unknown_name("", "question", question, QUESTIONS)
    _check_word(name)
    texts = {folder / f"{name}.py": policy_text(question, name), folder / f"test_{name}.py": test_text(question, name)}
    for path in texts:
        if path.exists():
            raise InputError(f"{path} exists already; choose another name, or another folder with --into.")
    _check_free(question, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{folder}: no file can be written there ({problem.strerror}).") from None
    policy, test = texts
    return policy, test


def policy_text(question: str, name: str) -> str:
    """Return the text of a policy file; what an answer sees stands in it as comments."""
    from workbench.policies.catalogue import sees

    base = _base(question)
    text = _filled(_template(question), name).replace("QUESTION", _asked(base))
    lines = [] if base.asks is None else sees(base.asks)
    wrapped = [part for line in lines for part in textwrap.wrap(line, 108, subsequent_indent="    ")]
    return text.replace("        SEES\n", "".join(f"        # {line}\n" for line in wrapped))


def test_text(question: str, name: str) -> str:
    """Return the text of the test of a policy."""
    from workbench.policies.contract import contract_class

    contract = contract_class(_base(question))
    text = _template("test").replace("POLICY_QUESTION", question)
    text = text.replace("CONTRACT_MODULE", contract.__module__).replace("CONTRACT_CLASS", contract.__name__)
    return _filled(_imports_sorted(text), name)


def _imports_sorted(text: str) -> str:
    lines = text.splitlines(keepends=True)
    ours = sorted(line for line in lines if line.startswith("from workbench."))
    return "".join(ours.pop(0) if line.startswith("from workbench.") else line for line in lines)


def _base(question: str) -> type[Policy]:
    from workbench.policies.catalogue import load_all
    from workbench.policies.policy import base_of

    load_all()
    return base_of(question)


def _asked(base: type[Policy]) -> str:
    """Return the question in words: the first line of its module."""
    first = (sys.modules[base.__module__].__doc__ or "").splitlines()[0]
    return re.sub(r" \(spec .*\)$", "", first)


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}{SUFFIX}").read_text(encoding="utf-8")


def _filled(text: str, name: str) -> str:
    return text.replace("CLASS_NAME", class_name(name)).replace("POLICY_NAME", name)


def class_name(name: str) -> str:
    """Return the class that a policy's name stands for.

    >>> class_name("my_fit")
    'MyFit'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def _is_word(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) is not None


def _check_word(name: str) -> None:
    if not _is_word(name) or keyword.iskeyword(name):
        raise InputError(f"a policy's name must be words in small letters joined by _, such as my_fit. Got {name!r}.")


def _check_free(question: str, name: str) -> None:
    from workbench.policies.catalogue import load_all
    from workbench.policies.policy import policies

    load_all()
    if name in policies(question):
        raise InputError(f"{name} is already a {question} policy; choose another name.")


POLICY = _arguments_of_new_policy, _run_new_policy

_WIDE = 100


def _arguments_of_new_preset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", help="machine, translation_machine, board or node_machine")
    parser.add_argument("name", metavar="NAME", help="the preset's name, such as my_card")
    parser.add_argument("--into", metavar="DIR", default=".", help="where to write NAME.yaml (default: here)")


def _run_new_preset(given: argparse.Namespace) -> int:
    path = write_preset(given.kind, given.name, Path(given.into))
    print(f"wrote {path}")
    print("fill in each value, its mark and its source; this says what is missing, then shows them:")
    print(f"workbench list presets {path}")
    print(f"use it:  machine: {path} in a sweep")
    return DONE


def write_preset(kind: str, name: str, folder: Path) -> Path:
    """Write the file of a preset in which no figure has a value yet, and return it.

    Raises
    ------
    InputError
        There is no such kind of machine, the name is no plain snake_case word or is taken, or the file cannot be
        written.
    """
    from workbench.machine.presets import KIND_OF_MACHINE, preset_names

    if kind not in KIND_OF_MACHINE:
        raise unknown_name("", "kind of machine", kind, sorted(KIND_OF_MACHINE))
    if not _is_word(name):
        raise InputError(f"a preset's name must be words in small letters joined by _, such as my_card. Got {name!r}.")
    if name in preset_names():
        raise InputError(f"{name} is already a machine preset (workbench list presets {name}); choose another name.")
    path = folder / f"{name}.yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(preset_text(kind, name))
    except OSError as problem:
        raise InputError(f"{path}: cannot be written ({problem.strerror}).") from None
    return path


def preset_text(kind: str, name: str) -> str:
    """Return the text of a preset of a kind of machine, without values; what each figure means stands beside it.

    >>> print(preset_text("board", "mine").splitlines()[0])
    # A machine preset: Frozen description of a board; a card that stands earlier has the lower id
    """
    from workbench.machine.presets import KIND_OF_MACHINE, KINDS, MARKS

    of = KIND_OF_MACHINE[kind]
    first = (of.__doc__ or "").splitlines()[0]
    head = [
        f"A machine preset: {first}",
        "Every figure has a value, a mark that says how far its source can be trusted, and the source in words that "
        "lead a reader there. Marks:",
        *(f"  {mark}: {meaning}" for mark, meaning in MARKS.items()),
    ]
    return "\n".join(
        [
            *(part for line in head for part in _comment(line)),
            f'title: "{name}"',
            f"kind: hardware  # {', '.join(KINDS)}: of a card, of a simulator's model of one, of a source document",
            "devices: []  # words in the names that traces give such a card, such as [H100]",
            "figures:",
            *(line for lever in of.figures().values() for line in _figure_lines(lever)),
            "",
        ]
    )


def _figure_lines(lever: Lever) -> list[str]:
    """Return the lines of one figure: its meaning, unit and the workbench's own default as comments."""
    import yaml

    says = f"{lever.description}{f' ({lever.unit})' if lever.unit else ''}"
    if not lever.required:
        default = yaml.safe_dump(lever.plain(lever.default), default_flow_style=True, width=10**6).split("\n...")[0]
        says += f"; without a preset {default.strip()}"
    comment = [f"  {line}" for line in _comment(says)]
    return [*comment, f"  {lever.name}:", "    value:", "    mark: not_verified", '    source: ""']


def _comment(line: str) -> list[str]:
    return [f"# {part}" for part in textwrap.wrap(line, _WIDE, subsequent_indent="    ", drop_whitespace=True)]


PRESET = _arguments_of_new_preset, _run_new_preset
