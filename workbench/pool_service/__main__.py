"""`python -m workbench.pool_service FOLDER`: run the storage service until it is stopped."""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.errors import InputError, WorkbenchError
from workbench.pool_service.folder import SERVING, ServiceFolder
from workbench.pool_service.listener import Opening
from workbench.units import parse_bytes

if TYPE_CHECKING:
    from workbench.pool_service.service import Service


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(f"{self.prog}: {message}. See: {self.prog} --help")


def main(words: list[str] | None = None) -> int:
    """Run the storage service of spec 5 until it is stopped; the exit status is 0, or 2 for wrong input."""
    parser = _Parser(prog="python -m workbench.pool_service", description=main.__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="where its socket and its journal are")
    parser.add_argument("--machine", metavar="PRESET", help="the board whose cards the arenas stand for")
    parser.add_argument("--card-bytes", metavar="BYTES", help="every card's arena, such as 16MiB; 0: as the card")
    parser.add_argument("--settings", metavar="JSON", default="{}", help="further settings, such as policies")
    parser.add_argument("--clear", action="store_true", help="take away what a service that was killed has left")
    try:
        given = parser.parse_args(words)
        return _clear(given.folder) if given.clear else _run(given)
    except WorkbenchError as problem:
        print(f"workbench: {problem}", file=sys.stderr)
        return problem.exit_status
    except KeyboardInterrupt:  # before it serves: from then on the signal ends its loop
        return 128 + signal.SIGINT


def _run(given: argparse.Namespace) -> int:
    service = _started(given.folder, _said(given))
    service.stop_at_signals()
    print(SERVING, given.folder, flush=True)
    gc.freeze()
    gc.disable()  # a collection would make some request wait for milliseconds, and the loop makes no cycles
    service.run()
    return 0


def _started(folder: str, settings: dict[str, Any]) -> Service:
    """Start the service; the folder is taken before the policies and their compiler are imported."""
    opening = Opening.of(folder)
    try:
        from workbench.pool_service.service import Service, ServiceSettings

        read = ServiceSettings.read(settings, "settings")
    except BaseException:
        opening.close()
        raise
    return Service(folder, read, opening=opening)


def _said(given: argparse.Namespace) -> dict[str, Any]:
    try:
        settings = json.loads(given.settings)
    except ValueError as problem:
        raise InputError(f"--settings must be JSON ({problem}).") from None
    if not isinstance(settings, dict):
        raise InputError('--settings must be a JSON object, such as {"target": "most_free"}.')
    named = {"board": given.machine, "card_bytes": _arena_bytes(given.card_bytes)}
    return {**settings, **{key: value for key, value in named.items() if value is not None}}


def _arena_bytes(text: str | None) -> int | None:
    return 0 if text == "0" else None if text is None else parse_bytes(text, "--card-bytes")


def _clear(folder: str) -> int:
    service_folder = ServiceFolder(folder)
    service_folder.make()
    held = service_folder.lock()
    service_folder.clear()
    os.close(held)
    return 0


if __name__ == "__main__":
    sys.exit(main())
