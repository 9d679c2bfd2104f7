"""The figures and claims that belong to no single engine."""

from __future__ import annotations

from workbench.mechanisms.manifest import Manifest, words

GENERAL = Manifest(
    name="any",
    figures={
        "pareto": "workbench.figures._pareto:PARETO_FIGURE",
        "saving_by_policy": "workbench.figures._saving_by_policy:SAVING_BY_POLICY_FIGURE",
        "scenario_discovery": "workbench.figures.scenario_discovery:SCENARIO_DISCOVERY_FIGURE",
        "sensitivities": "workbench.figures._sensitivities:SENSITIVITIES_FIGURE",
        "interactions": "workbench.figures._interactions:INTERACTIONS_FIGURE",
        "factorial_effects": "workbench.figures._factorial_effects:FACTORIAL_EFFECTS_FIGURE",
        "measure_by_lever": "workbench.figures._trends:MEASURE_BY_LEVER_FIGURE",
        "fragmentation_by_size": "workbench.figures._trends:FRAGMENTATION_BY_SIZE_FIGURE",
        "where_it_holds": "workbench.figures._where_it_holds:WHERE_IT_HOLDS_FIGURE",
    },
    calculations={
        "measured_and_predicted": "workbench.figures._measured_and_predicted:MEASURED_AND_PREDICTED_FIGURE",
    },
    study_figures={
        "pareto": "workbench.figures._tuning:PARETO_FIGURE",
        "hypervolume_history": "workbench.figures._tuning:HYPERVOLUME_HISTORY_FIGURE",
        "lever_importances": "workbench.figures._tuning:LEVER_IMPORTANCES_FIGURE",
    },
    claims={
        "workbench.claims.between:CLAIMS": words("H7.1 H7.2 H7.3"),
    },
)
