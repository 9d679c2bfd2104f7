"""A package with a part of each kind is installed by pip, listed, swept, drawn, exported and verified."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

from tests.parts.installed import GUEST, guest_entries, pip_environment, write_package

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent.parent
SWEEP = {
    "engine": "shared_memory",
    "workload": {"synthetic": "pairs", "count": 10},
    "policy": {"placement": {"vary": ["first_fit", {"gap_fit": {"skip": 4}}]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 2,
    "measures": ["drain_cycles", "longest_wait"],
    "figures": ["spread"],
}
EACH_KIND = """
import sys
import workbench as wb
from workbench.circuits import cases_of, circuit_of, differences
from workbench.circuits.registry import policy_named
from workbench.workloads.importers import read_trace

assert wb.dashboard("plain_page").value == "a plain page"
pool = {"engine": "pool", "machine": "desk", "workload": {"synthetic": "full_card", "size": 10**9}}
assert wb.run(pool, workers=0).table["status"].tolist() == ["done"]
coin = {"engine": "guest_coin", "workload": "large_uniform", "figures": ["heads"]}
coin["options"] = {"chance": {"vary": [0, 1]}}
assert wb.run(coin, workers=2).table["heads_rate"].tolist() == [0.0, 1.0]
assert wb.run(coin, workers=0).figure_data("heads").low.tolist() == [0.0, 1.0]
last_bit = policy_named("last_bit", {})
assert not list(differences(circuit_of(last_bit, 4), cases_of(last_bit, 4, 50)))
assert read_trace("watch.jsonl").kernels.duration_ns.tolist() == [900]
assert "G1" in wb.claims(["G1"], seeds=2, workers=0).table["id"].tolist()
"""
OFFERED = """
import jsonschema
import workbench as wb
from workbench.experiments.schema import sweep_schema

check = jsonschema.Draft202012Validator(sweep_schema())
pool = {"engine": "pool", "workload": {"synthetic": "full_card", "size": 10**9}}
assert check.is_valid({**pool, "machine": "desk"}) and check.is_valid({**pool, "machine": {"preset": "desk"}})
assert not check.is_valid({**pool, "machine": "dessk"})
waits = {"engine": "shared_memory", "workload": {"synthetic": "pairs"}, "measures": ["longest_wait"]}
assert check.is_valid({**waits, "policy": {"placement": {"gap_fit": {"skip": 4}}}})
assert not check.is_valid({**waits, "measures": ["longest_weight"]})
page = wb.dashboard("pool")
page.sidebar.machine.show("desk")
assert page.sidebar.machine.plain() == {"preset": "desk"} and "2 GPUs" in page.sidebar.machine.contents.value
assert wb.run({**page.sidebar.config(), "seeds": 1}, workers=0).table["status"].tolist() == ["done"] * 2
page.close()
page = wb.dashboard("shared_memory")
controls = dict(page.sidebar.walk())
assert "gap_fit" in controls["policy.placement"].choices and "pairs" in controls["workload"].choices
assert "longest_wait" in {name for _, name in page.sidebar.measure.field.options}
page.close()
"""
WITHOUT = """
import sys
import workbench as wb

sweep = {"engine": "shared_memory", "workload": "large_uniform", "measures": ["drain_cycles"]}
results = wb.run(sweep, workers=0)
results.figure("remaining_over_time")
from workbench.mechanisms.mechanism import mechanisms
from workbench.workloads.importers import importers

assert not [name for name in sys.modules if name.startswith(("guest_parts", "torn"))]
assert "guest_coin" in mechanisms() and "stopwatch_lines" in importers() and "torn" not in mechanisms()
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder below which the package is installed as an installer does it, and a package that does not import."""
    folder = tmp_path_factory.mktemp("guests")
    place = sysconfig.get_path("purelib", "posix_user", {"userbase": str(folder)})
    environment = pip_environment(Path(place)) | {"PYTHONUSERBASE": str(folder)}
    built = folder / "source"
    subprocess.run(["cp", "-r", str(GUEST), str(built)], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", str(built)], env=environment, check=True)
    torn = {"policy.placement.torn_fit": "torn:TornFit", "engine.torn": "torn:MECHANISM", "importer.torn": "torn:Torn"}
    write_package(Path(place), "torn", torn, {"torn": "import no_such_module"})
    return folder, environment


def lacking(home):
    """The same folder where the package is not installed."""
    folder, environment = home
    return folder, {**environment, "PYTHONPATH": str(ROOT), "PYTHONUSERBASE": str(folder / "none")}


def called(home, *command: str, status: int = 0) -> str:
    folder, environment = home
    reply = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert reply.returncode == status, reply.stdout + reply.stderr
    return reply.stdout if status == 0 else reply.stderr


def workbench(home, *words: str, status: int = 0) -> str:
    return called(home, sys.executable, "-m", "workbench", *words, status=status)


def test_every_part_is_listed_with_its_package(home):
    rows = json.loads(workbench(home, "list", "packages", "--json"))["packages"]
    assert {row["entry"] for row in rows if not row["problem"]} == {*guest_entries()}
    (torn,) = {row["package"] for row in rows if row["problem"]}
    assert torn == "torn 1.0"
    text = workbench(home, "list", "packages")
    assert text.startswith("guest-parts 1.0\n    circuit.peer.last_bit\n")
    listed = " ".join(workbench(home, "list", "policies", "placement").split())
    assert "gap_fit(skip=0) Take the lowest" in listed and "of the package guest-parts 1.0" in listed
    assert "not listed: torn 1.0: the entry point policy.placement.torn_fit = 'torn:TornFit' does not load" in listed
    assert "longest_wait (shared_memory, cycles, lower, guest-parts 1.0)" in workbench(home, "list", "measures")
    assert "spread (runs, any, guest-parts 1.0)" in workbench(home, "list", "figures")
    assert "workload: {synthetic: pairs}" in workbench(home, "list", "workloads", "pairs")
    assert "Two cards at a desk" in workbench(home, "list", "presets", "--json")
    assert "heads_rate (guest_coin, higher, guest-parts 1.0)" in workbench(home, "list", "measures", "guest_coin")
    assert "nearest: desk. Did you mean desk?" in workbench(home, "list", "presets", "dessk", status=2)


def test_a_policy_and_the_levers_of_every_part_are_listed(home):
    (row,) = json.loads(workbench(home, "list", "policies", "gap_fit", "--json"))["policies"]
    assert (row["source"], row["package"]) == ("guest_parts.policies:GapFit", "guest-parts 1.0")
    assert row["levers"]["skip"]["default"] == 0 and row["engines"]["shared_memory"] == ["placement"]
    assert "Did you mean gap_fit?" in workbench(home, "list", "policies", "gap_fitt", status=2)
    broken = " ".join(workbench(home, "list", "policies", "torn_fit", status=2).split())
    assert "torn 1.0: the entry point policy.placement.torn_fit = 'torn:TornFit' does not load" in broken
    assert "leaves no decision to a policy" in workbench(home, "list", "policies", "guest_coin")
    levers = json.loads(workbench(home, "list", "levers", "--json"))["levers"]
    brought = {(row["name"], row["of"], row["kind"]) for row in levers if row.get("package") == "guest-parts 1.0"}
    assert brought == {
        ("skip", "gap_fit", "placement policy"),
        ("chance", "coin_options", ""),
        ("count", "pairs", "workload"),
    }


def test_a_sweep_is_run_drawn_exported_and_verified(home):
    folder, _ = home
    (folder / "pairs.yaml").write_text(yaml.safe_dump(SWEEP))
    run = workbench(home, "run", "pairs.yaml", "--out", "out", "--executor", "two_threads")
    assert "figure: out/figures/spread.png (and .csv, .pdf)" in run and "gap_fit(skip=4)" in run
    workbench(home, "export", "out", "--to", "paper")
    needs = json.loads((folder / "paper" / "manifest.json").read_text())["needs"]
    assert "2 of 4 runs need GapFit of the package guest-parts 1.0: install it to do them again." in needs
    assert "4 of 4 runs done again gave the same bits" in " ".join(workbench(home, "verify", "paper").split())


def test_without_the_package_a_folder_and_a_bundle_say_what_to_install(home):
    folder, _ = home
    pool = {"engine": "pool", "machine": "desk", "workload": {"synthetic": "full_card", "size": 10**9}}
    coin = {"engine": "guest_coin", "workload": "large_uniform", "seeds": 1}
    for name, sweep in (("board", {**pool, "measures": ["completed_rate"], "seeds": 1}), ("coin", coin)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(sweep))
        workbench(home, "run", f"{name}.yaml", "--out", name, "--quiet")
        workbench(home, "export", name, "--to", f"paper_{name}")
    needs = json.loads((folder / "paper_board" / "manifest.json").read_text())["needs"]
    assert needs == ["the machine preset desk is of the package guest-parts 1.0: install it to do the runs again."]
    sentence = "it needs the package guest-parts 1.0, which is not installed here; install it."
    absent = lacking(home)
    for name in ("board", "coin"):
        refusal = workbench(absent, "results", name, status=2)
        assert " ".join(refusal.split()) == f"workbench: {name} cannot be read here: {sentence}"
    assert f": it cannot be done here: {sentence}" in verified(absent, "paper_board", status=1)
    assert verified(absent, "paper_coin", status=2).endswith(f"the runs of paper_coin cannot be done here: {sentence}")


def verified(home, bundle: str, status: int) -> str:
    """What `verify` prints of a bundle, on one line."""
    folder, environment = home
    command = [sys.executable, "-m", "workbench", "verify", bundle]
    reply = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert reply.returncode == status, reply.stdout + reply.stderr
    return " ".join((reply.stdout + reply.stderr).split())


def test_the_schema_and_the_dashboards_offer_the_parts(home):
    called(home, sys.executable, "-c", OFFERED)


def test_a_part_of_each_kind_is_used(home):
    folder, _ = home
    (folder / "watch.jsonl").write_text('{"stopwatch_lines": 1}\n{"name": "gemm", "start": 0, "ns": 900}\n')
    called(home, sys.executable, "-c", EACH_KIND)


def test_a_sweep_without_them_imports_none_of_them(home):
    called(home, sys.executable, "-c", WITHOUT)


def test_a_sweep_that_names_a_part_that_does_not_import_says_which_package(home):
    folder, _ = home
    torn = {**SWEEP, "workload": "large_uniform", "policy": {"placement": "torn_fit"}, "measures": ["drain_cycles"]}
    del torn["baseline"], torn["figures"]
    (folder / "torn.yaml").write_text(yaml.safe_dump(torn))
    sentence = " ".join(workbench(home, "run", "torn.yaml", status=2).split())
    assert "torn 1.0: the entry point policy.placement.torn_fit = 'torn:TornFit' does not load" in sentence
    assert not (folder / "results").exists()
