import sys

from workbench.cli.main import program

sys.exit(program())
