"""A fault campaign: what is lost, repeated or wrongly blamed when everything that can go wrong does.

python -m benchmarks.faults             # everything, some minutes
python -m benchmarks.faults --short     # each fault once
"""
