"""Versions are the same everywhere, a cluster that is too old is refused, and packages are pinned by hash."""

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.version import Version

from deploy import install
from deploy.sbom import bill_of_materials
from tests.deploy.chart import CHART, KUBERNETES, VARIANTS, Manifest, is_valid, named, pods, rendered, values
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


def _images(found: list[Manifest]) -> set[str]:
    images = {container["image"] for pod in pods(found).values() for container in pod["containers"]}
    images |= {each["spec"]["imageName"] for each in named(found, "Cluster").values()}
    return images | {each["spec"]["image"] for each in named(found, "RabbitmqCluster").values()}


def _version(image: str) -> str:
    return image.rpartition(":")[2].partition("-")[0]


def test_no_image_has_a_tag_that_moves() -> None:
    """`latest` or a bare major version can change at any time, on one node and not on another."""
    images = {_default(service["image"]) for service in COMPOSE.values()}
    for image in images.union(*(_images(rendered(name)) for name in VARIANTS)):
        assert PINNED.search(image), image


def test_compose_kubernetes_and_tests_run_the_same_postgres_and_rabbitmq() -> None:
    """What is tested is what runs."""
    postgres, rabbitmq = (_version(_default(COMPOSE[name]["image"])) for name in ("postgres", "rabbitmq"))
    assert (_version(POSTGRES_IMAGE), _version(RABBITMQ_IMAGE)) == (postgres, rabbitmq)
    for name in VARIANTS:
        images = _images(rendered(name))
        assert {_version(each) for each in images if "postgres" in each} == {postgres}
        assert {_version(each) for each in images if "rabbitmq" in each} == {rabbitmq}


def test_our_image_has_the_version_of_the_code() -> None:
    """In compose and in the chart; Python writes 1.0.0rc0 where tags and charts say 1.0.0-rc."""
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    tag = chart["appVersion"]
    assert (Version(tag), chart["version"]) == (Version(VERSION), tag)
    assert _default(COMPOSE["gateway"]["image"]) == f"studio-partner-api:{tag}"
    image = {"name": "studio-partner-api", "tag": tag, "digest": "", "pullSecrets": []}
    assert values()["image"] == image
    assert (ROOT / "CHANGELOG.md").read_text().count(f"\n## [{tag}]\n") == 1


def test_the_base_image_is_one_argument_of_the_build_and_of_compose() -> None:
    """So that a digest pins both stages; empty by default, because it would be stale within weeks."""
    text = (ROOT / "deploy/Dockerfile").read_text()
    [default] = re.findall(r"^ARG PYTHON_IMAGE=(\S+)$", text, re.M)
    assert set(re.findall(r"^FROM (\S+)", text, re.M)) == {"${PYTHON_IMAGE}"}
    for name in ("make-secrets", "gateway", "migrate"):
        assert _default(COMPOSE[name]["build"]["args"]["PYTHON_IMAGE"]) == default


def test_every_image_of_the_chart_can_be_pinned_by_a_digest() -> None:
    """Ours by `image.digest`, the servers' by a digest after their version; the schema accepts both."""
    given = {"image.digest": DIGEST}
    for part in ("database", "broker"):
        given[f"{part}.cluster.image"] = values()[part]["cluster"]["image"] + f"@{DIGEST}"
    assert is_valid(given)
    assert all(image.endswith(f"@{DIGEST}") for image in _images(rendered(given=given)))


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
    responses = {
        "version": {"serverVersion": {"gitVersion": cluster["Kubernetes"]}},
        "deployments": {"items": [{"spec": {"template": {"spec": {"containers": containers}}}}]},
        "customresourcedefinitions": {
            "items": [{"metadata": crd | {"annotations": bundle}}] if "Gateway API" in cluster else []
        },
    }
    script = folder / "kubectl"
    script.write_text(
        f"#!{sys.executable}\nimport json, sys\nanswers = json.loads({json.dumps(json.dumps(responses))})\n"
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


@pytest.mark.parametrize("registry", ["docker.io/rabbitmqoperator", "ghcr.io/rabbitmq"])
def test_a_cluster_with_everything_passes(tmp_path: Path, registry: str) -> None:
    """The output lists what was found. Since 2.20 and 1.19 RabbitMQ's operators come from ghcr.io."""
    found = {name: image.replace("docker.io/rabbitmqoperator", registry) for name, image in GOOD.items()}
    done = _preflight(tmp_path, found)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, len(GOOD)), done.stdout + done.stderr


def test_what_is_too_old_or_missing_is_named(tmp_path: Path) -> None:
    """Before anything is applied, instead of a silently dropped field."""
    old = {name: re.sub(r"(:v?|^v)\d+\.\d+\.\d+", r"\g<1>0.1.0", found) for name, found in GOOD.items()}
    done = _preflight(tmp_path, old)
    assert done.returncode == 1
    for name in GOOD:
        assert re.search(rf"{name} .*too old", done.stdout), name
    done = _preflight(tmp_path, {"Kubernetes": GOOD["Kubernetes"]})
    assert done.returncode == 1
    for name in GOOD.keys() - {"Kubernetes"}:
        assert f"{name} is not in the cluster" in done.stdout


def test_the_minimum_versions_are_written_down() -> None:
    """The table in the docs has the same numbers as the check."""
    said = runpy.run_path(str(PREFLIGHT))
    least = {name: minimum for name, (_, minimum, _) in said["OPERATORS"].items()}
    least |= {"Kubernetes": said["KUBERNETES"], "Gateway API": said["GATEWAY_API"]}
    table = dict(
        re.findall(r"^\| ([^|]+?) \| (\d[\d.]*) \|", (ROOT / "docs/operating/install.md").read_text(), re.M)
    )
    assert {name: table.get(name) for name in least} == least
    assert table["Postgres"] == "15" and table["RabbitMQ"] == "3.10"


LOCK = (ROOT / "deploy" / "requirements.lock").read_text()
LOCKS = sorted([*ROOT.glob("deploy/*.lock"), *ROOT.glob("bench/*.lock")])


def test_every_pinned_package_has_a_hash() -> None:
    for lock in LOCKS:
        pinned = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)[1:]
        assert len(pinned) == install.count(lock) > 0
        assert [package for package in pinned if "--hash=sha256:" not in package] == [], lock


@pytest.mark.parametrize("uv_works", [True, False], ids=["with uv", "with pip"])
def test_a_package_is_checked_when_it_is_installed(monkeypatch: pytest.MonkeyPatch, uv_works: bool) -> None:
    """Only the project itself has no hash, and it brings no dependencies."""
    commands: list[list[str]] = []

    def record(title: str, command: list[str]) -> None:
        commands.append(command)
        if not uv_works and command[0].endswith("uv"):
            raise install.StepFailed("no uv here")

    monkeypatch.setattr(install, "run", record)
    install.install(Path("venv/bin/python"), Path("deploy/requirements.lock"), install.pip_wheel())
    assert any(install.TOOLS in command for command in commands)
    assert any("deploy/requirements.lock" in command for command in commands)
    for command in commands:
        assert "--require-hashes" in command or "--no-deps" in command, command


def test_ctrl_c_while_installing_says_one_calm_line(tmp_path: Path) -> None:
    """Neither a traceback nor a process left behind; what is there is used by the next start."""
    child = subprocess.Popen(
        [sys.executable, "deploy/install.py", str(tmp_path / "venv"), str(tmp_path / "none.lock")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_RETRIES": "90"},
        start_new_session=True,
    )
    assert child.stdout is not None
    (tmp_path / "none.lock").write_text("")
    while "installers" not in (line := child.stdout.readline()):
        assert line
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert (child.returncode, said.strip()) == (130, "Stopped. The next `make up` goes on from here.")
    ends = time.monotonic() + 30
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < ends:
            os.killpg(child.pid, 0)
            time.sleep(0.05)


def test_every_pinned_package_is_in_the_bill_with_its_hashes() -> None:
    """Nothing is missing and nothing is added, and the same lock gives the same document."""
    document = bill_of_materials(LOCK, "1.0.0")
    pinned = re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", LOCK, re.MULTILINE | re.IGNORECASE)
    parts = document["components"]
    assert [(part["name"], part["version"]) for part in parts] == pinned
    assert len(pinned) > 20
    assert sum(len(part["hashes"]) for part in parts) == LOCK.count("--hash=sha256:")
    assert all(part["hashes"] for part in parts)
    assert document["dependencies"][0]["dependsOn"] == [part["bom-ref"] for part in parts]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    assert document == bill_of_materials(LOCK, "1.0.0")
    assert document["serialNumber"] != bill_of_materials(LOCK + "\n", "1.0.0")["serialNumber"]
