"""Applications end with their last stream, or, once refused, with their last group; what they have goes back (N17)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.node.chunks import give_back_chunks
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.planning import application_words, present
from workbench.engines.node.state import APPLICATION, Run
from workbench.engines.node.tensors import give_back


@noinline
def end_if_done(run: Run, application: int) -> None:
    """End an application all of whose streams have ended."""
    row = run.state.application[application]
    if row[APPLICATION.left] == 0 and row[APPLICATION.refused] == 0:
        _end(run, application)


@noinline
def end_refused(run: Run, application: int) -> None:
    """End an application that was refused and has no group under way."""
    row = run.state.application[application]
    if row[APPLICATION.refused] == 1 and row[APPLICATION.live] == 0:
        _end(run, application)


@noinline
def _end(run: Run, application: int) -> None:
    """End an application: what it has goes back."""
    row = run.state.application[application]
    if row[APPLICATION.ended]:
        return
    row[APPLICATION.ended], row[APPLICATION.ended_at] = 1, present(run)
    tell(run, KIND.end, run.plan.home[application], application_words(run, application), 0)
    give_back(run, application)
    give_back_chunks(run, application)
