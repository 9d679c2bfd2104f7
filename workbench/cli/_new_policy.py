"""`workbench new policy`: a policy file and its test, both of which pass as written."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli._new_files import add_new_arguments, refuse_existing, say_new, write_new
from workbench.cli.commands import DONE
from workbench.errors import InputError, unknown_name

if TYPE_CHECKING:
    from workbench.policies.policy import Policy


TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".py.txt"
QUESTIONS = sorted(
    path.name.removesuffix(SUFFIX) for path in TEMPLATES.glob(f"*{SUFFIX}") if path.name != f"test{SUFFIX}"
)


def _arguments_of_new_policy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", metavar="QUESTION", help=f"one of {', '.join(QUESTIONS)}")
    parser.add_argument("name", metavar="NAME", help="the policy's name, such as my_fit")
    add_new_arguments(parser, "where to write the two files")


def _run_new_policy(args: argparse.Namespace) -> int:
    policy, test = write_policy(args.question, args.name, Path(args.into))
    lines = [
        f"wrote {policy} and {test}",
        f"try it:  python -m pytest {test}",
        f"use it:  workbench run SWEEP --set policy.{args.question}={policy}:{class_name(args.name)}",
    ]
    say_new([policy, test], lines, args.json)
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
    refuse_existing(texts)
    _check_free(question, name)
    write_new({path: text.encode() for path, text in texts.items()})
    policy, test = texts
    return policy, test


def policy_text(question: str, name: str) -> str:
    """Return the text of a policy file; what an answer sees stands in it as comments."""
    from workbench.policies.catalogue import sees

    base = _base(question)
    text = _filled(_template(question), name).replace("QUESTION", _question_words(base))
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


def _question_words(base: type[Policy]) -> str:
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


def is_snake_case(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name) is not None


def _check_word(name: str) -> None:
    if not is_snake_case(name) or keyword.iskeyword(name):
        raise InputError(f"a policy's name must be words in small letters joined by _, such as my_fit. Got {name!r}.")


def _check_free(question: str, name: str) -> None:
    from workbench.policies.catalogue import load_all
    from workbench.policies.policy import policies

    load_all()
    if name in policies(question):
        raise InputError(f"{name} is already a {question} policy; choose another name.")


POLICY = _arguments_of_new_policy, _run_new_policy
