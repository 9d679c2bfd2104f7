"""The command line: one command a station of the road from a sweep file to a figure in a paper."""

from workbench.cli.main import main, program
