import workbench as wb

results = wb.run("sweeps/placement/drain.yaml", "results/first", seeds=20)
table = results.summary()[["policy.placement", "measure", "mean", "verdict"]]
print(table.head(4).to_string(index=False))
