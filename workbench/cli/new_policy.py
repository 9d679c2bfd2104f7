"""`workbench new-policy QUESTION NAME`: a policy file and its test, both of which pass as written."""

from __future__ import annotations

import argparse
import keyword
import re
from pathlib import Path

from workbench.cli.command import DONE, Command
from workbench.errors import InputError, unknown_name

TEMPLATES = {"placement": ("placement_policy.py.txt", "placement_test.py.txt")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", help=f"one of {', '.join(TEMPLATES)}")
    parser.add_argument("name", metavar="NAME", help="the policy's name, such as my_fit")
    parser.add_argument("--into", metavar="DIR", default=".", help="where to write the two files (default: here)")


def run(given: argparse.Namespace) -> int:
    policy, test = write_policy(given.question, given.name, Path(given.into))
    cls = class_name(given.name)
    print(f"wrote {policy} and {test}")
    print(f"try it:  pytest {test}")
    print(f"use it:  workbench run SWEEP --set {given.question}={policy}:{cls}".replace(" --set ", " --set policy."))
    return DONE


def write_policy(question: str, name: str, folder: Path) -> tuple[Path, Path]:
    """Write a policy that answers a question, and its test; both pass as they are.

    Raises
    ------
    InputError
        There is no such question, the name is no plain snake_case word or is taken, a file is in the way, or the folder
        cannot be written to.
    """
    if question not in TEMPLATES:
        raise unknown_name("", "question", question, TEMPLATES)
    _check_word(name)
    paths = folder / f"{name}.py", folder / f"test_{name}.py"
    for path in paths:
        if path.exists():
            raise InputError(f"{path} exists already; choose another name, or another folder with --into.")
    _check_free(question, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, template in zip(paths, TEMPLATES[question], strict=True):
            path.write_text(_filled(template, name), encoding="utf-8")
    except OSError as problem:
        raise InputError(f"{folder}: no file can be written there ({problem.strerror}).") from None
    return paths


def _filled(template: str, name: str) -> str:
    text = (Path(__file__).parent / "templates" / template).read_text(encoding="utf-8")
    return text.replace("CLASS_NAME", class_name(name)).replace("POLICY_NAME", name)


def class_name(name: str) -> str:
    """The class that a policy's name stands for.

    >>> class_name("my_fit")
    'MyFit'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def _check_word(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or keyword.iskeyword(name):
        raise InputError(f"a policy's name must be words in small letters joined by _, such as my_fit. Got {name!r}.")


def _check_free(question: str, name: str) -> None:
    from workbench.policies.catalogue import load_all
    from workbench.policies.policy import policies

    load_all()
    if name in policies(question):
        raise InputError(f"{name} is already a {question} policy; choose another name.")


COMMAND = Command("new-policy", "Write a policy file and its test, ready to change.", add_arguments, run)
