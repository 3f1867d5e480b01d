"""The manifests as objects: built here, and compared with kustomize's output where it is installed."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.kustomizing import Manifest as Manifest
from tests.deploy.kustomizing import build
from tests.harness.system import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
# The two parts of webhooks are one program and two deployments.
DEPLOYMENTS = ("gateway", "catalog", "bookings", "forms", "webhooks-log", "webhooks-dispatch")
OVERLAYS = ("development", "production")
# From the oldest supported release to the newest one that the schemas know.
VERSIONS = ("1.31", "1.37")


def base() -> list[Manifest]:
    return build(KUBERNETES / "base")


def kustomize() -> list[str] | None:
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    return ["kubectl", "kustomize"] if shutil.which("kubectl") else None


def overlay(name: str) -> list[Manifest]:
    """What would be applied."""
    return build(KUBERNETES / "overlays" / name)


def built(folder: str) -> list[Manifest]:
    """The same by kustomize itself, which must be installed."""
    return kustomized(KUBERNETES / folder)


def kustomized(folder: Path) -> list[Manifest]:
    command = kustomize()
    assert command is not None
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [found for found in yaml.safe_load_all(done.stdout) if found]


def named(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {found["metadata"]["name"]: found for found in manifests if found["kind"] == kind}


def pods(manifests: list[Manifest]) -> dict[str, Any]:
    """Every pod template's spec, by kind and name."""
    return {
        f"{manifest['kind']}/{manifest['metadata']['name']}": manifest["spec"]["template"]["spec"]
        for manifest in manifests
        if manifest["kind"] in ("Deployment", "StatefulSet", "Job")
    }
