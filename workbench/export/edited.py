"""Files that were edited since the numbers of a bundle were computed: it would bring along other code than theirs."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import InputError
from workbench.experiments.own_measures import OwnMeasure
from workbench.experiments.run_set import RunSet
from workbench.identity import current
from workbench.levers import Spec, identity_of
from workbench.parts.user_files import file_of, module_of


def check_unedited(runs: RunSet) -> None:
    """Refuse runs whose files of policies, measures or workloads are not what the runs were computed with.

    An edit of what does not execute, such as a comment, is none.

    Raises
    ------
    InputError
        A file was edited since, or it is not there any more; the sentence names it.
    """
    points = [point.setup for point in runs.points if point.setup is not None]
    own = [(one.function, current(one.function).digest) for one in runs.plan.sweep.own.values()]
    for part, digest in dict.fromkeys([*(pair for setup in points for pair in setup.code), *own]):
        file = file_of(part)
        if file is not None and digest not in _digests(file):
            raise InputError(
                f"{file}: was edited since these runs were computed, and a bundle would hold it as it is now; run the "
                "sweep again, or undo the edit."
            )
    for workload in {id(setup.workload): setup.workload for setup in points}.values():
        identity_of(workload)  # which refuses a file that has changed


def _digests(file: Path) -> set[str]:
    """Return the digests of the policies, generators and measures that a file defines as it is now."""
    try:
        defined = [*vars(module_of(file)).values()]
    except (Exception, SystemExit) as problem:
        raise InputError(f"{file}: does not run any more: {type(problem).__name__}: {problem}") from None
    specs = (one for one in defined if isinstance(one, type) and issubclass(one, Spec) and not one.built_in)
    functions = (one.function for one in defined if isinstance(one, OwnMeasure))
    return {current(one).digest for one in (*specs, *functions)}
