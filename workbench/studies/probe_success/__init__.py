from workbench.studies.probe_success.chance import Chance
from workbench.studies.probe_success.run_chance import no_run
