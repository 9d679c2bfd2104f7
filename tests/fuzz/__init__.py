"""Every reader of files under mutation: what it reads it reads whole, what it refuses it refuses in one sentence.

`python -m tests.fuzz --seconds 60` looks for files that end otherwise, and keeps each in `tests/data/crashes/`, whose
files `test_readers.py` reads from then on.
"""
