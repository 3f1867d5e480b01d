"""Versions are the same everywhere, and the preflight refuses a cluster that is too old."""

import copy
import json
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.chart import CHART, values
from tests.deploy.kustomizing import build
from tests.deploy.manifests import KUBERNETES, OVERLAYS, Manifest, named, overlay, pods
from tests.deploy.templates import rendered
from tests.deploy.test_chart import SCHEMA
from tests.harness.containers import POSTGRES_IMAGE, RABBITMQ_IMAGE
from tests.harness.system import ROOT

COMPOSE: Any = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
PREFLIGHT = KUBERNETES / "preflight.py"
PINNED = re.compile(r":v?\d+\.\d+")
SETTABLE = re.compile(r"\$\{STUDIO_(?:[A-Z]+_)?IMAGE:-(.+)\}")
DIGEST = "sha256:" + "a" * 64


def _default(image: str) -> str:
    """Compose's image if no variable replaces it."""
    found = SETTABLE.fullmatch(image)
    assert found is not None, f"{image} cannot be pinned by a variable"
    return found[1]


def _images(name: str) -> set[str]:
    return _images_of(overlay(name))


def _images_of(found: list[Manifest]) -> set[str]:
    images = {container["image"] for pod in pods(found).values() for container in pod["containers"]}
    images |= {each["spec"]["imageName"] for each in named(found, "Cluster").values()}
    return images | {each["spec"]["image"] for each in named(found, "RabbitmqCluster").values()}


def _version(image: str) -> str:
    return image.rpartition(":")[2].partition("-")[0]


def test_no_image_has_a_tag_that_moves() -> None:
    """`latest` or a bare major version can change at any time, on one node and not on another."""
    images = {_default(service["image"]) for service in COMPOSE.values()}
    for image in images.union(*map(_images, OVERLAYS)):
        assert PINNED.search(image), image


def test_compose_kubernetes_and_tests_run_the_same_postgres_and_rabbitmq() -> None:
    """What is tested is what runs."""
    postgres, rabbitmq = (_version(_default(COMPOSE[name]["image"])) for name in ("postgres", "rabbitmq"))
    assert (_version(POSTGRES_IMAGE), _version(RABBITMQ_IMAGE)) == (postgres, rabbitmq)
    for name in OVERLAYS:
        images = _images(name)
        assert {_version(each) for each in images if "postgres" in each} == {postgres}
        assert {_version(each) for each in images if "rabbitmq" in each} == {rabbitmq}


def test_our_image_has_the_version_of_the_code() -> None:
    """In compose, in both overlays and in the chart; no digest unless somebody sets one."""
    ours = f"studio-partner-api:{VERSION}"
    assert _default(COMPOSE["gateway"]["image"]) == ours
    for name in OVERLAYS:
        assert {each for each in _images(name) if each.startswith("studio-partner-api")} == {ours}
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
    assert values("production")["image"] == {"name": "studio-partner-api", "tag": VERSION, "digest": ""}


def test_the_base_image_is_one_argument_of_the_build_and_of_compose() -> None:
    """So that a digest pins both stages; empty by default, because it would be stale within weeks."""
    text = (ROOT / "deploy/Dockerfile").read_text()
    [default] = re.findall(r"^ARG PYTHON_IMAGE=(\S+)$", text, re.M)
    assert set(re.findall(r"^FROM (\S+)", text, re.M)) == {"${PYTHON_IMAGE}"}
    for name in ("make-secrets", "gateway", "migrate"):
        assert _default(COMPOSE[name]["build"]["args"]["PYTHON_IMAGE"]) == default


def test_every_image_of_the_chart_can_be_pinned_by_a_digest() -> None:
    """Ours by `image.digest`, the servers' by a digest after their version; the schema accepts both."""
    found = copy.deepcopy(values("production"))
    found["image"]["digest"] = DIGEST
    for part in ("database", "broker"):
        found[part]["cluster"]["image"] += f"@{DIGEST}"
    assert SCHEMA.is_valid(found)
    made = [each for each in yaml.safe_load_all(rendered(CHART, "studio", found)) if each]
    assert all(image.endswith(f"@{DIGEST}") for image in _images_of(made))


def test_one_digest_in_the_overlay_pins_every_pod_of_ours(tmp_path: Path) -> None:
    """As its comment says: `digest` in place of `newTag`."""
    shutil.copytree(KUBERNETES, tmp_path / "kubernetes")
    folder = tmp_path / "kubernetes" / "overlays" / "production"
    text = (folder / "kustomization.yaml").read_text()
    (folder / "kustomization.yaml").write_text(text.replace(f'newTag: "{VERSION}"', f"digest: {DIGEST}"))
    images = {pod["containers"][0]["image"] for pod in pods(build(folder)).values()}
    assert images == {f"studio-partner-api@{DIGEST}"}


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_migration_job_has_a_name_per_version_and_stays(name: str) -> None:
    """A job is immutable: with a fixed name no upgrade could be applied by kubectl, Flux or Argo CD."""
    [job] = named(overlay(name), "Job").values()
    assert job["metadata"]["name"] == f"migrate-{VERSION.replace('.', '-')}"
    assert "ttlSecondsAfterFinished" not in job["spec"], "it would be run again at each reconciliation"
    annotations = job["metadata"]["annotations"]
    assert not any("argocd.argoproj.io/hook" in each for each in annotations), "hooks run at every sync"
    assert annotations["kustomize.toolkit.fluxcd.io/force"] == "enabled"
    assert "Force=true" in annotations["argocd.argoproj.io/sync-options"]


GOOD = {
    "Kubernetes": "v1.34.1",
    "CloudNativePG": "ghcr.io/cloudnative-pg/cloudnative-pg:1.27.1",
    "Barman Cloud plugin": "ghcr.io/cloudnative-pg/plugin-barman-cloud:v0.9.0",
    "RabbitMQ cluster operator": "docker.io/rabbitmqoperator/cluster-operator:2.16.1",
    "RabbitMQ topology operator": "docker.io/rabbitmqoperator/messaging-topology-operator:1.17.4",
    "KEDA": "ghcr.io/kedacore/keda:2.18.0@sha256:" + "a" * 64,
    "Prometheus operator": "quay.io/prometheus-operator/prometheus-operator:v0.86.0",
    "cert-manager": "quay.io/jetstack/cert-manager-controller:v1.19.0",
    "Gateway API": "v1.4.0",
}


def _preflight(folder: Path, cluster: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Against a kubectl that answers as such a cluster would."""
    containers = [
        {"image": image} for name, image in cluster.items() if name not in ("Kubernetes", "Gateway API")
    ]
    crd = {"name": "httproutes.gateway.networking.k8s.io"}
    bundle = {"gateway.networking.k8s.io/bundle-version": cluster.get("Gateway API")}
    answers = {
        "version": {"serverVersion": {"gitVersion": cluster["Kubernetes"]}},
        "deployments": {"items": [{"spec": {"template": {"spec": {"containers": containers}}}}]},
        "customresourcedefinitions": {
            "items": [{"metadata": crd | {"annotations": bundle}}] if "Gateway API" in cluster else []
        },
    }
    script = folder / "kubectl"
    script.write_text(
        f"#!{sys.executable}\nimport json, sys\nanswers = json.loads({json.dumps(json.dumps(answers))})\n"
        "print(json.dumps(next(answers[word] for word in sys.argv if word in answers)))\n"
    )
    script.chmod(0o755)
    return subprocess.run(
        [sys.executable, str(PREFLIGHT)],
        env={"PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_cluster_with_everything_passes(tmp_path: Path) -> None:
    """The output lists what was found."""
    done = _preflight(tmp_path, GOOD)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, len(GOOD)), done.stdout + done.stderr


def test_rabbitmqs_operators_are_found_in_both_registries(tmp_path: Path) -> None:
    """Since 2.20 and 1.19 they come from ghcr.io."""
    moved = {
        name: image.replace("docker.io/rabbitmqoperator", "ghcr.io/rabbitmq") for name, image in GOOD.items()
    }
    assert moved != GOOD
    done = _preflight(tmp_path, moved)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", GOOD)
def test_what_is_too_old_or_missing_is_named(tmp_path: Path, name: str) -> None:
    """Before anything is applied, instead of a silently dropped field."""
    old = re.sub(r":v?\d+\.\d+\.\d+|^v\d+\.\d+\.\d+", lambda m: f"{m[0][0]}0.1.0", GOOD[name])
    done = _preflight(tmp_path, GOOD | {name: old})
    assert done.returncode == 1 and f"{name} " in done.stdout and "too old" in done.stdout
    if name != "Kubernetes":
        done = _preflight(tmp_path, {key: each for key, each in GOOD.items() if key != name})
        assert done.returncode == 1 and f"{name} is not in the cluster" in done.stdout


def test_the_minimum_versions_are_written_down() -> None:
    """The table in the docs has the same numbers as the check."""
    said = runpy.run_path(str(PREFLIGHT))
    least = {name: minimum for name, (_, minimum, _) in said["OPERATORS"].items()}
    least |= {"Kubernetes": said["KUBERNETES"], "Gateway API": said["GATEWAY_API"]}
    table = dict(re.findall(r"^\| ([^|]+?) \| (\d[\d.]*) \|", (ROOT / "docs/operating.md").read_text(), re.M))
    assert {name: table.get(name) for name in least} == least
    assert table["Postgres"] == "15" and table["RabbitMQ"] == "3.10"
