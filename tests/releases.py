"""The requirements of an environment that is not the lock's: what pip installs for `make test ENVIRONMENT=...`.

`newest` has the requirements of `pyproject.toml` as they are, so pip takes the newest releases. `oldest` has each lower
bound as the very release. Both have the extra `all` and the group `dev`. This file needs nothing that is installed.

    python -m tests.releases oldest
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def declared(project: dict[str, Any]) -> list[str]:
    """Return what the package, its extra `all` and the group `dev` require, each once.

    >>> declared({"project": {"name": "p", "dependencies": ["a>=1"], "optional-dependencies": {"all": ["p[x]"],
    ...     "x": ["b>=2", "a>=1"], "y": ["c"]}}, "dependency-groups": {"dev": ["d"]}})
    ['a>=1', 'b>=2', 'd']
    """
    package, groups = project["project"], project["dependency-groups"]
    extras = package["optional-dependencies"]
    (every,) = extras["all"]
    names = re.fullmatch(rf"{re.escape(package['name'])}\[([\w,]+)\]", every)[1].split(",")
    return list(dict.fromkeys([*package["dependencies"], *(one for n in names for one in extras[n]), *groups["dev"]]))


def oldest(requirement: str) -> str:
    """Return a requirement that only its lower bound meets; one without a bound is as it was.

    >>> oldest("psycopg[binary]>=3.2.1"), oldest("libcachesim>=0.3.5 ; sys_platform == 'linux'"), oldest("pandas-stubs")
    ('psycopg[binary]==3.2.1', "libcachesim==0.3.5 ; sys_platform == 'linux'", 'pandas-stubs')
    """
    what, mark, condition = requirement.partition(";")
    return what.replace(">=", "==") + mark + condition


def requirements(environment: str) -> list[str]:
    """Return the requirements of an environment, `newest` or `oldest`."""
    lines = declared(tomllib.loads(PROJECT.read_text(encoding="utf-8")))
    return {"newest": lines, "oldest": [oldest(line) for line in lines]}[environment]


if __name__ == "__main__":
    sys.stdout.write("\n".join(requirements(sys.argv[1])) + "\n")
