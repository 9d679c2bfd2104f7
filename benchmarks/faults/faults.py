"""The faults, one function each; every one returns its books."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.deeds import SENTENCES
from benchmarks.faults.site import Books, Site
from workbench.experiments.results_folder import ROWS

DIED = "the worker process ended with status 9 during this run."
LATE = "the run did not end within 2 s."
DESTROYED = 5000
"""Bytes at the end of a file that are overwritten, some of them cut off."""

HERE: dict[str, Any] = {"workers": 1}
THREADS: dict[str, Any] = {"workers": 2, "executor": "threads"}
PROCESSES: dict[str, Any] = {"workers": 2}
GIVEN: dict[str, Any] = {"executor": "handed in"}
"""Three processes of `concurrent.futures`."""
CLUSTER: dict[str, Any] = {"executor": "local:2"}
KINDS = (HERE, PROCESSES, THREADS, CLUSTER)
LIMIT_SECONDS = 2


def drivers_killed(folder: Path, times: int) -> Books:
    """kill -9 at random moments, drivers with other kinds of workers taking turns."""
    dice = random.Random(times)
    site = Site(folder, {"plan": {"seeds": 60 * times, "sleeps_ms": 10}, "run": KINDS[0]})
    for k in range(times):
        driver = site.start(run=KINDS[k % len(KINDS)])
        _until(lambda driver=driver: site.advanced() or driver.poll() is not None)
        time.sleep(dice.uniform(0.0, 0.6))
        driver.kill()
        driver.communicate()
        site.happened += 1
        site.book()
    return site.finish("drivers killed (-9)")


def workers_killed(folder: Path, times: int, run: dict[str, Any], name: str) -> Books:
    """kill -9 of workers while their driver runs."""
    site = Site(folder, {"plan": {"seeds": 400 + 250 * times, "sleeps_ms": 10}, "run": run})
    driver = site.start()
    _until(lambda: site.advanced() or driver.poll() is not None)
    for _ in range(times):
        victims = _until(lambda: list(workers_of(driver.pid)) or driver.poll() is not None)
        if victims is True:
            break
        os.kill(random.choice(victims), signal.SIGKILL)
        site.happened += 1
        seen = len(site.advanced())
        _until(lambda seen=seen: len(site.advanced()) > seen or driver.poll() is not None)
    driver.communicate(timeout=600)
    site.book()
    return site.finish(f"workers killed (-9), {name}")


def a_run_that_kills(folder: Path, run: dict[str, Any], name: str) -> Books:
    """A run that ends its process, every time."""
    site = Site(folder, {"plan": {"seeds": 12, "kills": 5}, "run": run})
    site.happened = 1
    return site.finish(f"a run kills its worker, {name}", {5: DIED})


def a_run_that_hangs(folder: Path, run: dict[str, Any], name: str) -> Books:
    """A run that does not end."""
    site = Site(folder, {"plan": {"seeds": 12, "hangs": 5}, "run": {**run, "limit_seconds": 2}})
    site.happened = 1
    return site.finish(f"a run hangs, {name}", {5: LATE})


def misbehaves(folder: Path, deed: str, run: dict[str, Any], name: str) -> Books:
    """A run whose user's code does what no code should."""
    site = Site(folder, {"plan": {"seeds": 12, "deeds": {"5": deed}}, "run": {**run, "limit_seconds": LIMIT_SECONDS}})
    site.happened = 1
    sentence = SENTENCES.get(deed)
    return site.finish(f"a run {deed.replace('_', ' ')}, {name}", {5: _said(sentence, run)} if sentence else None)


def _said(sentence: str, run: dict[str, Any]) -> str:
    """What the row says; Dask gives a bundle up after two deaths."""
    killed = "three times", "four times"
    return sentence.format(limit=LIMIT_SECONDS).replace(*(killed if run == CLUSTER else killed[:1] * 2))


def full_disk(folder: Path) -> Books:
    """No file may grow beyond a limit, which ends the driver with one sentence."""
    site = Site(folder, {"plan": {"seeds": 900}, "run": {"workers": 1}})
    driver = site.start(file_bytes=150_000)
    message = driver.communicate(timeout=300)[1]
    if driver.returncode == 0 or message.count("\n") != 1 or "cannot be used" not in message:
        raise AssertionError(f"a full disk was not told in one sentence: {message}")
    site.happened += 1
    site.book()
    return site.finish("a full disk")


def damaged_tail(folder: Path) -> Books:
    """The end of the file that holds the rows is overwritten after its driver was killed."""
    site = Site(folder, {"plan": {"seeds": 400, "sleeps_ms": 1}, "run": {"workers": 1}})
    driver = site.start()
    _until(lambda: len(site.advanced()) > 500 or driver.poll() is not None)
    driver.kill()
    driver.communicate()
    site.book()
    file = max((site.folder / ROWS).iterdir())
    content = file.read_bytes()
    cut = len(content) - DESTROYED
    destroyed = frozenset(run for run in site.rows() if _end_of_row(content, run) > cut)
    file.write_bytes(content[:cut] + os.urandom(DESTROYED - 1000))
    site.happened += 1
    site.start().communicate(timeout=300)
    site.book(destroyed)
    return site.finish(f"a damaged tail ({len(destroyed)} rows destroyed)")


def two_drivers(folder: Path) -> Books:
    """A second driver on a folder that another one holds."""
    site = Site(folder, {"plan": {"seeds": 400, "sleeps_ms": 100}, "run": {"workers": 1}})
    first = site.start()
    _until(lambda: site.advanced() or first.poll() is not None)
    message = site.start("log of the second").communicate(timeout=120)[1]
    if f"is in use by process {first.pid} on " not in message or message.count("\n") != 1:
        raise AssertionError(f"the second driver was not told who holds the folder: {message}")
    first.kill()
    first.communicate()
    site.happened += 1
    site.book()
    site.asked["run"] = {"workers": 32, "executor": "threads"}
    return site.finish("two drivers at once")


def _end_of_row(content: bytes, run: str) -> int:
    """Where a row ends in a row file: a little behind its measures."""
    return content.find(b"}", content.rfind(run.encode())) + 40


def workers_of(driver: int) -> Iterator[int]:
    """Yield the worker processes of a driver, and those of its local cluster."""
    processes = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            processes[int(stat.parent.name)] = parent, (stat.parent / "cmdline").read_text()
        except (OSError, IndexError):
            continue
    clusters = [one for one, (parent, command) in processes.items() if parent == driver and _CLUSTER in command]
    for one, (parent, command) in processes.items():
        if (parent == driver and _WORKER in command) or (parent in clusters and "spawn_main" in command):
            yield one


_WORKER, _CLUSTER = "executors.worker_process\0", "executors.local_cluster\0"
"""What the command line of a worker, and of a local cluster, has as an argument."""


def _until(true: Callable[[], Any], seconds: float = 120.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (result := true()):
        if time.monotonic() > deadline:
            raise AssertionError("it did not happen in time")
        time.sleep(0.005)
    return result
