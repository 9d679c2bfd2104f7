"""What the folder of a shard keeps of it: which part of which sweep it is, its points, and the code of its runs.

From it `shard_merge` proves that all shards are there, without planning the sweep and without executing its code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.digests import canonical, digest
from workbench.errors import StoreError
from workbench.experiments.plan import Plan
from workbench.experiments.provenance import own_measures, plain, without_folders
from workbench.experiments.saved_results import named, shortest
from workbench.experiments.store import Store
from workbench.experiments.sweep import Sweep, with_files
from workbench.files import digest_of_file
from workbench.identity import PYTHON
from workbench.version import __version__

VERSIONS = ("version", "revision", "python", "measured")
"""The entries that say which code makes the runs: the same in all shards."""


def sweep_digest(sweep: Sweep) -> str:
    """Return the digest of what a sweep says, seeds and the content of its files included, wherever these lie."""
    config = {**sweep.config, "seeds": shortest(sweep.seeds), "planned": sweep.planned or len(sweep.seeds)}
    return digest(canonical(plain(with_files(named(config), sweep.folder, digest_of_file))))


def shard_facts(plan: Plan) -> dict[str, Any]:
    """Return the note in a folder on the shard of its plan."""
    assert plan.part is not None
    sweep, part = plan.sweep, plan.part
    return {
        "shard": str(part.shard),
        "sweep": sweep_digest(sweep),
        "config": digest(canonical(plain(sweep.config))),
        "version": __version__,
        "revision": canonical(sweep.mechanism.revision),
        "python": canonical(PYTHON),
        "measured": sweep.measured_by().text,
        "code": _code(plan),
        "own_measures": own_measures(plan),
        "seeds": shortest(sweep.seeds),
        "runs": len(plan),
        "points": [
            {
                "id": point.id,
                "place": part.places[point.id],
                "baseline": point.baseline,
                "coordinates": without_folders(point.coordinates),
                **({"seeds": sorted(part.seeds[point.id])} if point.id in part.seeds else {}),
            }
            for point in plan.points
        ],
    }


def _code(plan: Plan) -> dict[str, list[str]]:
    """Return the digests of each class of the user's, by its name."""
    known = {(cls.__qualname__, code) for point in plan.points for cls, code in point.setup.code}
    return {name: sorted(code for one, code in known if one == name) for name in sorted({name for name, _ in known})}


def claim_shard(plan: Plan, store: Store) -> None:
    """Note in a store which shard it holds.

    Raises
    ------
    StoreError
        It holds the shard of another sweep.
    """
    assert plan.part is not None
    before, now = store.shard_facts(), shard_facts(plan)
    if before and before["sweep"] != now["sweep"]:
        raise StoreError(
            f"{store.folder} holds {plan.part.shard.name} of another sweep: a key, a file that is named or an option "
            "of the command differs; choose another folder."
        )
    store.keep_shard(now)


def runs_of(facts: dict[str, Any], seeds: list[int]) -> Iterator[tuple[str, int]]:
    """Yield the id of the point and the seed of each run of a shard."""
    for point in facts["points"]:
        for seed in point.get("seeds", seeds):
            yield point["id"], seed
