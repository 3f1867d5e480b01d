"""Backups are taken and kept, and the drill that restores one in a cluster does what it says."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy import crds
from tests.deploy.__main__ import problems
from tests.deploy.kustomizing import read
from tests.deploy.manifests import KUBERNETES, Manifest, named, overlay
from tests.harness.system import ROOT

CHECKS = (ROOT / "deploy" / "restore-checks.sql").read_text()
DRILL: list[Manifest] = json.loads(
    json.dumps(read(KUBERNETES / "restore-drill.yaml")).replace("SOURCE_CLUSTER", "studio-db")
)


def test_every_wal_segment_is_archived_and_old_ones_go() -> None:
    """Without a retention the archive fills up; without nightly backups nothing can be restored."""
    manifests = overlay("production")
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
    if crds.why_not() is None:
        assert crds.problems(DRILL) == []
    drill = named(DRILL, "Cluster")["studio-db-drill"]["spec"]
    production = named(overlay("production"), "Cluster")["studio-db"]
    for field in ("imageName", "storage", "walStorage"):
        assert drill[field] == production["spec"][field]
    most = production["spec"]["postgresql"]["parameters"]["max_connections"]
    assert drill["postgresql"]["parameters"]["max_connections"] == most, "recovery refuses a lower one"
    [source] = drill["externalClusters"]
    parameters = source["plugin"]["parameters"]
    assert parameters["serverName"] == source["name"] == production["metadata"]["name"]
    assert parameters["barmanObjectName"] in named(overlay("production"), "ObjectStore")


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


@pytest.mark.parametrize("fails", ["nothing", "wait", "exec"])
def test_the_drill_restores_checks_and_cleans_up(tmp_path: Path, fails: str) -> None:
    """Whatever fails, the second database is removed, and the exit status shows it."""
    done = _drill(tmp_path, "2026-11-15T12:00:00Z", fails=fails)
    assert (done.returncode == 0) == (fails == "nothing"), done.stderr
    commands = (tmp_path / "asked").read_text().splitlines()
    assert "delete" in commands[-1] and "studio-db-drill" in commands[-1]
    given = (tmp_path / "given").read_text()
    assert 'targetTime: "2026-11-15T12:00:00Z"' in given
    assert (CHECKS in given) == (fails != "wait")


def test_the_drill_refuses_a_moment_that_is_none(tmp_path: Path) -> None:
    """The text is inserted into a manifest."""
    done = _drill(tmp_path, "yesterday")
    assert done.returncode == 2 and not (tmp_path / "asked").exists()
    done = _drill(tmp_path, "2026-11-15T12:00:00Z", CLUSTER="studio-db/x")
    assert done.returncode == 2 and not (tmp_path / "asked").exists()


@pytest.mark.parametrize("cluster", ["studio-db", "studio-db-2"])
def test_the_drill_restores_the_backups_of_the_current_cluster(tmp_path: Path, cluster: str) -> None:
    """After a restore the current one has another name and its own archive."""
    _drill(tmp_path, "2026-11-15T12:00:00Z", CLUSTER=cluster)
    given = (tmp_path / "given").read_text()
    assert f"serverName: {cluster}}}" in given and "SOURCE_CLUSTER" not in given
