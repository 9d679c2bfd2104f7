"""Notebooks as experiments: each run once for every combination of its parameters.

run_notebooks(...)  check parameters, run what is missing, mark each output with where it comes from, keep an index of
                    what came out  -> NotebookBatch
headline(...)       numbers of a notebook that become columns of that index
"""

from workbench.notebooks.batch import NotebookBatch, run_notebooks
from workbench.notebooks.execution import NotebookRun
from workbench.notebooks.headline import headline

__all__ = ["NotebookBatch", "NotebookRun", "headline", "run_notebooks"]
