"""`workbench trust`: the code that a results folder or a bundle of somebody else would run, listed and signed.

A run, a tuning study and an export of this user sign what they write.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.cli._output import add_output_arguments, say_json
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError, StoreError, file_guess
from workbench.experiments.named_code import CodeFile, code_homes, code_listing
from workbench.trust import sign

DIGITS = 12
"""Of a digest, as it is listed."""


Code = dict[Path, tuple[dict[str, str], list[CodeFile]]]
"""By folder, the digests that its signature holds, and the files of code among them."""


def _arguments_of_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder, that of a study, or a bundle")
    parser.add_argument("--yes", action="store_true", help="sign without asking, in a script")
    add_output_arguments(parser)


def _run_trust(args: argparse.Namespace) -> int:
    homes = code_homes(Path(args.folder))
    if not homes:
        raise StoreError(f"{args.folder} is no results folder and no bundle.{file_guess(args.folder)}")
    listings = {home: code_listing(home) for home in homes}
    code = {home: listing for home, listing in listings.items() if listing[1]}
    if args.json:
        return _sign_and_say_json(code, args.yes)
    if not code:
        print(f"{args.folder} names no code, so it needs no signature.")
        return DONE
    for home, (_, files) in code.items():
        print(f"opening {home} runs:")
        for one in files:
            print(_visible(f"  {one.digest[:DIGITS]}  {one.name}  {_why(one)}"))
    if not args.yes and not _agreed(args.quiet):
        print("nothing was signed.")
        return SOME_FAILED
    for home, (digests, _) in code.items():
        sign(home, digests)
    print(f"signed: {', '.join(map(str, code))}")
    return DONE


def _sign_and_say_json(code: Code, yes: bool) -> int:
    """Print the code of each folder as JSON, and whether it is signed now: only with --yes."""
    if yes:
        for home, (digests, _) in code.items():
            sign(home, digests)
    files = {str(home): [one._asdict() for one in ones] for home, (_, ones) in code.items()}
    say_json({"code": files, "signed": [str(home) for home in code] if yes else []})
    return DONE if yes or not code else SOME_FAILED


def _why(one: CodeFile) -> str:
    return ", ".join(one.named) if one.named else "(imported)"


def _visible(text: str) -> str:
    """Return a text whose letters a terminal shows: a file's name may hold what moves its cursor."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _agreed(is_quiet: bool) -> bool:
    """Ask on the terminal.

    Raises
    ------
    InputError
        There is none, or the question would not be printed.
    """
    if is_quiet:
        raise InputError("workbench trust --quiet prints no question; --yes signs without asking.")
    if not sys.stdin.isatty():
        raise InputError("workbench trust asks on a terminal, and there is none; --yes signs without asking.")
    print("Read these files before you sign them. Sign? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


TRUST = _arguments_of_trust, _run_trust
