"""What a run's id says of code: a digest of what executes, taken from memory, never from a file.

Code is walked from a class or a function to everything that it refers to: functions and classes by their instructions,
constants, lists and arrays by their values. Two digests are equal where nothing that executes differs.

`code_digest` visits code: it parses `bytecode` and asks for the `owner` of each thing. `value_encoders` and
`numba_values` write each kind of value into the `transcript` that is digested, or state the `refusal`. `guards` tell
whether any of it has changed since; a `snapshot` is a digest with its guards. `observed` notes what code reads.
"""

import sys

from workbench.identity.snapshot import (
    Snapshot,
    current,
    digest_of,
    empty_caches,
    latest_moment,
    look,
    once_a_moment,
    one_moment,
    snapshot,
    still,
    tell_of_snapshots,
)

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The version of Python whose instructions the digests are of: others compile the same text to other ones."""

FORMAT = 4
"""Which way of naming runs this is, part of what every id is the digest of; before 3 ids held the text of a policy,
before 4 the workbench's own modules by their names."""

tell_of_snapshots(empty_caches)
