"""In a cluster: backups are taken and kept, the drill that restores one does what it says, and a restored
database has another name, which everything that depends on it follows.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.deploy.__main__ import problems
from tests.deploy.chart import KUBERNETES, Manifest, is_valid, named, read, rendered
from tests.harness.system import ROOT

CHECKS = (ROOT / "deploy" / "restore-checks.sql").read_text()
OLD, NEW = "studio-db", "studio-db-2"
RESTORED = {
    "database.name": NEW,
    "database.cluster.recovery": {"from": OLD, "to": "2026-11-15T12:00:00Z"},
}
# The owner's password has a name of its own, and the disk alert watches every cluster's volumes.
OTHER_MEANINGS = re.compile(r"studio-db-owner|studio-db-\.\+")
DRILL: list[Manifest] = json.loads(
    json.dumps(read(KUBERNETES / "restore-drill.yaml")).replace("SOURCE_CLUSTER", "studio-db")
)


def test_every_wal_segment_is_archived_and_old_ones_go() -> None:
    """Without a retention the archive fills up; without nightly backups nothing can be restored."""
    manifests = rendered()
    [plugin] = named(manifests, "Cluster")["studio-db"]["spec"]["plugins"]
    assert plugin["isWALArchiver"] is True
    store = named(manifests, "ObjectStore")[plugin["parameters"]["barmanObjectName"]]["spec"]
    assert store["retentionPolicy"].endswith("d") and int(store["retentionPolicy"][:-1]) >= 14
    [nightly] = named(manifests, "ScheduledBackup").values()
    assert nightly["spec"]["method"] == "plugin"
    assert nightly["spec"]["pluginConfiguration"]["name"] == plugin["name"]
    assert len(nightly["spec"]["schedule"].split()) == 6  # with seconds, unlike cron's


def test_the_drill_restores_what_production_backs_up() -> None:
    """The same image, a large enough volume, the same store and production's archive name."""
    assert problems(DRILL) == []
    drill = named(DRILL, "Cluster")["studio-db-drill"]["spec"]
    production = named(rendered(), "Cluster")["studio-db"]
    for field in ("imageName", "storage", "walStorage"):
        assert drill[field] == production["spec"][field]
    most = production["spec"]["postgresql"]["parameters"]["max_connections"]
    assert drill["postgresql"]["parameters"]["max_connections"] == most, "recovery refuses a lower one"
    [source] = drill["externalClusters"]
    parameters = source["plugin"]["parameters"]
    assert parameters["serverName"] == source["name"] == production["metadata"]["name"]
    assert parameters["barmanObjectName"] in named(rendered(), "ObjectStore")


def _drill(
    folder: Path, *words: str, fails: str = "nothing", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs the script with a kubectl that records its calls and fails at one of them."""
    fake = folder / "kubectl"
    fake.write_text(
        f'#!/bin/sh\necho "$@" >> {folder}/asked\n'
        f'case "$*" in *" create "*|*" exec "*) cat >> {folder}/given ;; esac\n'
        f'case "$*" in *" {fails} "*) exit 1 ;; esac\n'
    )
    fake.chmod(0o755)
    path = {"PATH": f"{folder}:{os.environ['PATH']}", **variables}
    script = str(KUBERNETES / "restore-drill.sh")
    return subprocess.run([script, *words], env=path, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("fails", "given_name"), [("nothing", NEW), ("wait", ""), ("exec", "")])
def test_the_drill_restores_checks_and_cleans_up(tmp_path: Path, fails: str, given_name: str) -> None:
    """Whatever fails, the second database is removed, and the exit status shows it. What is restored are the
    backups of the current cluster: after a restore that has another name and its own archive.
    """
    done = _drill(tmp_path, "2026-11-15T12:00:00Z", fails=fails, CLUSTER=given_name)
    assert (done.returncode == 0) == (fails == "nothing"), done.stderr
    commands = (tmp_path / "asked").read_text().splitlines()
    assert "delete" in commands[-1] and "studio-db-drill" in commands[-1]
    given = (tmp_path / "given").read_text()
    assert 'targetTime: "2026-11-15T12:00:00Z"' in given
    assert f"serverName: {given_name or OLD}}}" in given and "SOURCE_CLUSTER" not in given
    assert (CHECKS in given) == (fails != "wait")


def test_the_drill_refuses_a_moment_or_a_cluster_that_is_none(tmp_path: Path) -> None:
    """Both are inserted into a manifest."""
    for moment, cluster in (("yesterday", OLD), ("2026-11-15T12:00:00Z", "studio-db/x")):
        done = _drill(tmp_path, moment, CLUSTER=cluster)
        assert done.returncode == 2 and not (tmp_path / "asked").exists()


def _trace(manifests: list[Manifest]) -> list[str]:
    """What still names the old cluster, apart from the new one's source."""
    cluster = named(manifests, "Cluster")[NEW]["spec"]
    assert cluster["bootstrap"].pop("recovery")["source"] == OLD
    [source] = cluster.pop("externalClusters")
    assert source["name"] == source["plugin"]["parameters"]["serverName"] == OLD
    text = OTHER_MEANINGS.sub("", json.dumps(manifests))
    return re.findall(rf".{{60}}\b{OLD}\b(?!-2).{{20}}", text)


def test_everything_follows_the_restored_databases_name() -> None:
    """Every connection checks the certificate: with the old cluster's authority all would be refused."""
    assert is_valid(RESTORED)
    found = rendered(given=RESTORED)
    assert problems(found) == [] and _trace(found) == []
    behind = rendered(given=RESTORED)
    selector = named(behind, "PodMonitor")["studio-database"]["spec"]["selector"]
    selector["matchLabels"] = {"cnpg.io/cluster": OLD}
    assert len(_trace(behind)) == 1, "the check can fail"


def test_the_urls_name_a_service_that_every_cluster_has_in_its_certificate() -> None:
    """So no secret changes with a restore."""
    manifests = rendered(given=RESTORED)
    service = named(manifests, "Service")["database"]["spec"]["selector"]
    assert service == {"cnpg.io/cluster": NEW, "cnpg.io/instanceRole": "primary"}
    valid = named(manifests, "Cluster")[NEW]["spec"]["certificates"]["serverAltDNSNames"]
    hosts = set(re.findall(r"@([a-z.-]+):5432", (KUBERNETES / "secrets.example.yaml").read_text()))
    assert hosts == {"database.studio.svc"} <= set(valid)


def test_no_tool_deletes_the_damaged_database() -> None:
    """It leaves the manifests, but somebody may still need to read it."""
    kept = named(rendered(), "Cluster")[OLD]["metadata"]["annotations"]
    assert kept["helm.sh/resource-policy"] == "keep"
    assert kept["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
    assert kept["argocd.argoproj.io/sync-options"] == "Prune=false"
