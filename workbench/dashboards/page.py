"""How a kernel knows that its page is a dashboard and nothing else."""

ALONE = "WORKBENCH_DASHBOARD_PAGE"
"""The variable that the cell of such a page sets."""
