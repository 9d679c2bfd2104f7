"""Notebooks as experiments: one notebook run for every point of a sweep.

run_notebook(...)  check parameters, run what is missing, mark each output with where it comes from  -> NotebookBatch
"""

from workbench.experiments.notebooks.batch import NotebookBatch, run_notebook
from workbench.experiments.notebooks.execute import NotebookRun

__all__ = ["NotebookBatch", "NotebookRun", "run_notebook"]
