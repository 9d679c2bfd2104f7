"""Simulations of what the statistics promise: coverage of intervals, error rates of tests and of verdicts.

`python -m benchmarks.statistics` runs them all in full and prints the tables of docs/statistics.md; tests run them
small.
"""
