import workbench as wb

sweep = "sweeps/placement/drain.yaml"
results = wb.run(sweep, seeds=20, set={"measures": ["drain_cycles"]})
print(results.comparisons())
results.figure("drain_difference")
