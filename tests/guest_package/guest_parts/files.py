"""Where the files of the package are."""

from pathlib import Path

DESK = Path(__file__).with_name("desk.yaml")
