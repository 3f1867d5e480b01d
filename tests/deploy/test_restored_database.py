"""A restored database has another name, and everything that depends on the name follows it."""

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.__main__ import problems
from tests.deploy.chart import CHART, NAMESPACES, comparable, differences, values
from tests.deploy.kustomizing import build
from tests.deploy.manifests import KUBERNETES, Manifest, kustomize, kustomized, named
from tests.deploy.templates import rendered
from tests.deploy.test_chart import SCHEMA

OLD, NEW = "studio-db", "studio-db-2"
# The owner's password has a name of its own, and the disk alert watches every cluster's volumes.
OTHER_MEANINGS = re.compile(r"studio-db-owner|studio-db-\.\+")


def _values() -> Any:
    found = copy.deepcopy(values("production"))
    found["database"]["name"] = NEW
    found["database"]["cluster"]["recovery"] = {"from": OLD, "to": "2026-11-15T12:00:00Z"}
    return found


def _chart(given: Any) -> list[Manifest]:
    return [each for each in yaml.safe_load_all(rendered(CHART, NAMESPACES["production"], given)) if each]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The overlay as the docs say: restore.yaml is one more patch."""
    shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    made = tmp_path / "kubernetes" / "overlays" / "production"
    rules = made / "kustomization.yaml"
    line = re.search(r"^#  ( - .*)$", (made / "restore.yaml").read_text(), re.M)
    assert line
    rules.write_text(rules.read_text().replace("\npatches:\n", f"\npatches:\n {line[1]}\n"))
    return made


def _trace(manifests: list[Manifest]) -> list[str]:
    """What still names the old cluster, apart from the new one's source."""
    plain: list[Manifest] = json.loads(json.dumps(manifests))
    cluster = named(plain, "Cluster")[NEW]["spec"]
    assert cluster["bootstrap"].pop("recovery")["source"] == OLD
    [source] = cluster.pop("externalClusters")
    assert source["name"] == source["plugin"]["parameters"]["serverName"] == OLD
    text = OTHER_MEANINGS.sub("", json.dumps(plain))
    return re.findall(rf".{{60}}\b{OLD}\b(?!-2).{{20}}", text)


def test_the_overlay_follows_the_restored_databases_name(folder: Path) -> None:
    """Every connection checks the certificate: with the old cluster's authority all would be refused."""
    found = build(folder)
    assert _trace(found) == [] and problems(found) == []
    if kustomize() is not None:
        assert comparable(kustomized(folder)) == comparable(found)


def test_the_chart_follows_the_restored_databases_name(folder: Path) -> None:
    """By one value, to the same objects as the overlay."""
    assert SCHEMA.is_valid(_values())
    found = _chart(_values())
    assert _trace(found) == []
    assert differences(found, build(folder)) == []


def test_a_name_that_stays_behind_is_found() -> None:
    """The check can fail."""
    found = _chart(_values())
    named(found, "PodMonitor")["studio-database"]["spec"]["selector"]["matchLabels"] = {
        "cnpg.io/cluster": OLD
    }
    assert len(_trace(found)) == 1


def test_the_urls_name_a_service_that_every_cluster_has_in_its_certificate() -> None:
    """So no secret changes with a restore."""
    manifests = _chart(_values())
    service = named(manifests, "Service")["database"]["spec"]["selector"]
    assert service == {"cnpg.io/cluster": NEW, "cnpg.io/instanceRole": "primary"}
    valid = named(manifests, "Cluster")[NEW]["spec"]["certificates"]["serverAltDNSNames"]
    hosts = set(re.findall(r"@([a-z.-]+):5432", (KUBERNETES / "secrets.example.yaml").read_text()))
    assert hosts == {"database.studio.svc"} <= set(valid)


def test_no_tool_deletes_the_damaged_database() -> None:
    """It leaves the manifests, but somebody may still need to read it."""
    kept = named(_chart(values("production")), "Cluster")[OLD]["metadata"]["annotations"]
    assert kept["helm.sh/resource-policy"] == "keep"
    assert kept["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
    assert kept["argocd.argoproj.io/sync-options"] == "Prune=false"


@pytest.mark.parametrize(
    "database",
    [
        {"name": "other-db"},
        {"cluster": {"recovery": {"from": OLD}}},
        {"cluster": {"recovery": {"to": "now"}}},
    ],
    ids=["name", "no time", "no moment"],
)
def test_a_restore_that_cannot_work_is_refused(database: Any) -> None:
    """A name that the alerts do not watch, and half a recovery."""
    bad = _values()
    bad["database"] |= {key: each for key, each in database.items() if key == "name"}
    bad["database"]["cluster"] |= database.get("cluster", {})
    assert not SCHEMA.is_valid(bad)
