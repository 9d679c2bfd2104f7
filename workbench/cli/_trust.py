"""`workbench trust`: the code that a results folder or a bundle of somebody else would run, listed and signed.

A run, a tuning study and an export of this user sign what they write.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError, StoreError, file_guess
from workbench.experiments.named_code import CodeFile, code_homes, code_listing
from workbench.trust import sign

DIGITS = 12
"""Of a digest, as it is listed."""


def _arguments_of_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder, that of a study, or a bundle")
    parser.add_argument("--yes", action="store_true", help="sign without asking, in a script")


def _run_trust(args: argparse.Namespace) -> int:
    homes = code_homes(Path(args.folder))
    if not homes:
        raise StoreError(f"{args.folder} is no results folder and no bundle.{file_guess(args.folder)}")
    listings = {home: code_listing(home) for home in homes}
    code = {home: files for home, (_, files) in listings.items() if files}
    if not code:
        print(f"{args.folder} names no code, so it needs no signature.")
        return DONE
    for home, files in code.items():
        print(f"opening {home} runs:")
        for one in files:
            print(_visible(f"  {one.digest[:DIGITS]}  {one.name}  {_why(one)}"))
    if not args.yes and not _agreed():
        print("nothing was signed.")
        return SOME_FAILED
    for home in code:
        sign(home, listings[home][0])
    print(f"signed: {', '.join(map(str, code))}")
    return DONE


def _why(one: CodeFile) -> str:
    return ", ".join(one.named) if one.named else "(imported)"


def _visible(text: str) -> str:
    """Return a text whose letters a terminal shows: a file's name may hold what moves its cursor."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _agreed() -> bool:
    """Ask on the terminal.

    Raises
    ------
    InputError
        There is none.
    """
    if not sys.stdin.isatty():
        raise InputError("workbench trust asks on a terminal, and there is none; --yes signs without asking.")
    print("Read these files before you sign them. Sign? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


TRUST = _arguments_of_trust, _run_trust
