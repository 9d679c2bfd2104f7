import optuna

import workbench as wb

optuna.logging.set_verbosity(optuna.logging.WARNING)
objective = wb.objective("sweeps/tune/placement.yaml", set={"seeds": 2})
sampler = optuna.samplers.NSGAIISampler(population_size=4, seed=1)
study = optuna.create_study(directions=objective.directions, sampler=sampler)
study.optimize(objective, n_trials=8)
for trial in study.best_trials:
    drain, fragmentation = trial.values
    policy = trial.params["policy.placement"]
    print(f"trial {trial.number}, {policy}: {drain:.0f} cycles, mean external fragmentation {fragmentation:.3f}")
