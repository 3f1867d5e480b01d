"""The manifests as objects: the base put together here, the overlays by kustomize where there is one."""

import copy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.harness.system import ROOT

KUBERNETES = ROOT / "deploy" / "kubernetes"
OVERLAYS = ("development", "production")
# From the oldest release that is still looked after to the newest one that the schemas know.
VERSIONS = ("1.31", "1.37")

Manifest = dict[str, Any]


def read(path: Path) -> list[Manifest]:
    return [found for found in yaml.safe_load_all(path.read_text()) if found]


def base() -> list[Manifest]:
    """What `kustomize build base` gives, as far as fields go: the patch over every deployment is in it."""
    [kustomization] = read(KUBERNETES / "base" / "kustomization.yaml")
    found = [manifest for name in kustomization["resources"] for manifest in read(KUBERNETES / "base" / name)]
    [patch] = read(KUBERNETES / "base" / "every-deployment.yaml")
    return [
        merged(manifest, {"spec": patch["spec"]}) if manifest["kind"] == "Deployment" else manifest
        for manifest in found
    ]


def merged(one: Any, other: Any) -> Any:
    """A strategic merge as far as we need it: maps by key, lists of named things by name."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: merged(one[name], other[name]) for name in one.keys() & other.keys()}
        return copy.deepcopy({**one, **other, **both})
    if isinstance(one, list) and isinstance(other, list) and all("name" in item for item in (*one, *other)):
        names = {item["name"]: item for item in one}
        for item in other:
            names[item["name"]] = merged(names[item["name"]], item) if item["name"] in names else item
        return list(names.values())
    return copy.deepcopy(other)


def kustomize() -> list[str] | None:
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    return ["kubectl", "kustomize"] if shutil.which("kubectl") else None


def built(folder: str) -> list[Manifest]:
    """What would be applied; kustomize must be there."""
    command = kustomize()
    assert command is not None
    done = subprocess.run([*command, str(KUBERNETES / folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [found for found in yaml.safe_load_all(done.stdout) if found]


def pods(manifests: list[Manifest]) -> dict[str, Any]:
    """Every pod template's spec, by kind and name."""
    return {
        f"{manifest['kind']}/{manifest['metadata']['name']}": manifest["spec"]["template"]["spec"]
        for manifest in manifests
        if manifest["kind"] in ("Deployment", "StatefulSet", "Job")
    }
