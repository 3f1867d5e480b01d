"""What `helm template` renders of the chart, and how to find things in it."""

import copy
import functools
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from tests.harness.system import ROOT

Manifest = dict[str, Any]
CHART = ROOT / "deploy" / "helm"
KUBERNETES = ROOT / "deploy" / "kubernetes"
# The values files, each with its namespace.
VARIANTS = {"production": "studio", "development": "studio-development"}
# The two parts of webhooks are one program and two deployments.
DEPLOYMENTS = ("gateway", "catalog", "bookings", "forms", "webhooks-log", "webhooks-dispatch")
SCHEMA = jsonschema.Draft7Validator(json.loads((CHART / "values.schema.json").read_text()))
NO_HELM = "The chart was not rendered: there is no helm on this machine (PyPI has one for x86_64 Linux)."
# The operators' pods are not in our manifests. These are the labels that CloudNativePG (pkg/specs) and the
# RabbitMQ cluster operator (internal/metadata) put on them; a RabbitmqCluster's own labels reach no pod.
FOREIGN_PODS = {
    "database": {
        "cnpg.io/cluster": "studio-db",
        "cnpg.io/podRole": "instance",
        "cnpg.io/instanceRole": "primary",
        "app.kubernetes.io/name": "postgresql",
    },
    "database-job": {"cnpg.io/cluster": "studio-db", "cnpg.io/jobRole": "join"},
    "broker": {
        "app.kubernetes.io/name": "studio-broker",
        "app.kubernetes.io/component": "rabbitmq",
        "app.kubernetes.io/part-of": "rabbitmq",
    },
}


def helm() -> str | None:
    """A wheel brings it into the virtual environment, where there is one for the machine."""
    installed = Path(sys.executable).with_name("helm")
    return str(installed) if installed.exists() else shutil.which("helm")


def rendered(variant: str = "production", given: Mapping[str, Any] | None = None) -> list[Manifest]:
    """With other values than the variant's, by their paths: `{"image.tag": "1.2.3"}`."""
    return copy.deepcopy(_rendered(variant, json.dumps(_nested(given or {}))))


@functools.cache
def _rendered(variant: str, given: str) -> list[Manifest]:
    if (binary := helm()) is None:
        pytest.skip(NO_HELM, allow_module_level=True)
    files = [] if variant == "production" else ["-f", str(CHART / f"values-{variant}.yaml")]
    command = [binary, "template", "studio", str(CHART), "-n", VARIANTS[variant], *files, "-f", "-"]
    done = subprocess.run(
        [*command, "--set", "namespace.create=true"],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [found for found in yaml.load_all(done.stdout, yaml.CSafeLoader) if found]


def values(variant: str = "production", given: Mapping[str, Any] | None = None) -> Any:
    """What the templates read; the schema is checked against these."""
    found = yaml.safe_load((CHART / "values.yaml").read_text())
    if variant != "production":
        found = _over(found, yaml.safe_load((CHART / f"values-{variant}.yaml").read_text()))
    return _over(found, _nested(given or {}))


def is_valid(given: Mapping[str, Any]) -> bool:
    """Production's values with these."""
    return bool(SCHEMA.is_valid(values(given=given)))


def _nested(given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path, value in given.items():
        *way, last = path.split(".")
        functools.reduce(lambda place, step: place.setdefault(step, {}), way, found)[last] = value
    return found


def _over(one: Any, other: Any) -> Any:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return other
    return one | {name: _over(one[name], part) if name in one else part for name, part in other.items()}


def read(path: Path) -> list[Manifest]:
    return [found for found in yaml.safe_load_all(path.read_text()) if found]


def named(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {found["metadata"]["name"]: found for found in manifests if found["kind"] == kind}


def templates(manifests: list[Manifest]) -> dict[str, Any]:
    """Every pod template by its workload's name. The migration job's name has the version in it."""
    return {
        "migrate" if found["kind"] == "Job" else found["metadata"]["name"]: found["spec"]["template"]
        for found in manifests
        if found["kind"] in ("Deployment", "StatefulSet", "Job")
    }


def pods(manifests: list[Manifest]) -> dict[str, Any]:
    return {name: template["spec"] for name, template in templates(manifests).items()}


def pod_labels(manifests: list[Manifest]) -> dict[str, dict[str, str]]:
    return {name: template["metadata"]["labels"] for name, template in templates(manifests).items()}
