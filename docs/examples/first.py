import workbench as wb

sweep = "sweeps/placement/drain.yaml"
results = wb.run(sweep, set={"measures": ["drain_cycles"]})
print(results.comparisons())
results.figure("drain_difference")
