import workbench as wb

results = wb.run("sweeps/placement/drain.yaml", seeds=20, set={"measures": ["drain_cycles"]})
print(results.comparisons())
results.figure("drain_difference")
