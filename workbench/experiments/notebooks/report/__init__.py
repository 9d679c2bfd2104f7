"""The index of a batch: one row a run, and every notebook as a page that asks nothing of any host.

HtmlReport(folder, tasks, provenance)  .add(run) and .write(), each file written whole or not at all
"""

from workbench.experiments.notebooks.report.report import HtmlReport

__all__ = ["HtmlReport"]
