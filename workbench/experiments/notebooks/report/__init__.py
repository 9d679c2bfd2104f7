"""The HTML report of a batch: an index with one row a run, and every notebook as a page that asks nothing of any host.

HtmlReport(folder, tasks)  .page(run) and .index(notebook, runs), each file written whole or not at all
"""

from workbench.experiments.notebooks.report.report import HtmlReport

__all__ = ["HtmlReport"]
