"""What the Helm chart renders, with our own renderer or with helm, and how it differs from the overlays."""

import base64
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import yaml

from tests.deploy.kustomizing import Manifest
from tests.deploy.templates import rendered
from tests.harness.system import ROOT

CHART = ROOT / "deploy" / "helm"
NAMESPACES = {"production": "studio", "development": "studio-development"}
# Overlays create their namespace; a chart does so only on request.
OURS: dict[str, Any] = {"namespace": {"create": True}}


def values(name: str) -> Any:
    """As `helm template` reads them for an overlay's name."""
    found = yaml.safe_load((CHART / "values.yaml").read_text())
    if name != "production":
        found = _over(found, yaml.safe_load((CHART / f"values-{name}.yaml").read_text()))
    return _over(found, OURS)


def chart(name: str) -> list[Manifest]:
    """With our own renderer."""
    return _read(rendered(CHART, NAMESPACES[name], values(name)))


def helm() -> str | None:
    """A wheel brings it into the virtual environment, where there is one for the machine."""
    installed = Path(sys.executable).with_name("helm")
    return str(installed) if installed.exists() else shutil.which("helm")


def chart_by_helm(name: str, *options: str) -> list[Manifest]:
    binary = helm()
    assert binary is not None
    files = [] if name == "production" else ["-f", str(CHART / f"values-{name}.yaml")]
    command = [binary, "template", "studio", str(CHART), "-n", NAMESPACES[name], *files]
    done = subprocess.run(
        [*command, "--set", "namespace.create=true", *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return _read(done.stdout)


def schema_problems(name: str) -> list[str]:
    schema = json.loads((CHART / "values.schema.json").read_text())
    checker = jsonschema.Draft7Validator(schema)
    return [
        f"values for {name}: {found.json_path} {found.message}" for found in checker.iter_errors(values(name))
    ]


def differences(one: list[Manifest], other: list[Manifest]) -> list[str]:
    """Which objects are not the same in both, whatever the order in their lists."""
    a, b = comparable(one), comparable(other)
    names = sorted(a.keys() | b.keys())
    return [f"{name} is not the same in chart and overlay" for name in names if a.get(name) != b.get(name)]


def comparable(manifests: list[Manifest]) -> dict[str, Any]:
    """By kind and name, without the hashes in names; secrets as data, however they are written."""
    text = re.sub(r'"(studio-[a-z]+)-[0-9a-z]{10}"', r'"\1"', json.dumps(manifests))
    plain = json.loads(re.sub(r'"(migrate-[0-9-]+)-[0-9a-f]{8}"', r'"\1"', text))
    for found in plain:
        if found["kind"] == "Secret":
            data = {name: "".join(value.split()) for name, value in found.pop("data", {}).items()}
            for name, value in found.pop("stringData", {}).items():
                data[name] = base64.b64encode(value.encode()).decode()
            found["data"] = data
    named = {f"{found['kind']}/{found['metadata']['name']}": in_order(found) for found in plain}
    assert len(named) == len(plain), "two objects have one name"
    return named


def in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: in_order(value[name]) for name in sorted(value)}
    return sorted(map(in_order, value), key=repr) if isinstance(value, list) else value


def _read(text: str) -> list[Manifest]:
    return [found for found in yaml.safe_load_all(text) if found]


def _over(one: Any, other: Any) -> Any:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return other
    return one | {name: _over(one[name], part) if name in one else part for name, part in other.items()}
