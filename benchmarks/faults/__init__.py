"""A fault campaign: what is lost, repeated or wrongly blamed when everything that can go wrong does.

python -m benchmarks.faults             # everything, some twenty minutes
python -m benchmarks.faults --short     # each fault once
python -m benchmarks.faults --json      # one JSON object a line instead of the table
"""
