"""Other people's kinds against their own schemas, which npm packages carry. TypeScript finds unknown fields
and wrong types, the packages' validators the rest.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from tests.deploy.kustomizing import Manifest
from tests.harness.npm_packages import TYPESCRIPT, NpmPackages

PACKAGES = {
    "postgresql.cnpg.io/v1": "@kubernetes-models/cloudnative-pg@2.0.0",
    "keda.sh/v1alpha1": "@kubernetes-models/keda@2.0.0",
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator@6.0.0",
    "gateway.networking.k8s.io/v1": "@kubernetes-models/gateway-api@2.0.0",
}
INSTALLED = NpmPackages("crd-schemas", [*PACKAGES.values(), TYPESCRIPT])
FOLDER = INSTALLED.folder
OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--pretty", "false"]
MODULES = ["--module", "nodenext", "--moduleResolution", "nodenext"]


def why_not() -> str | None:
    """Why the schemas are not available here, or None."""
    return INSTALLED.why_not()


def has_schema(manifest: Manifest) -> bool:
    return manifest["apiVersion"] in PACKAGES


def problems(manifests: list[Manifest]) -> list[str]:
    """The problems that the schemas find in the manifests that they cover. They must be installed."""
    assert why_not() is None, why_not()
    known = [manifest for manifest in manifests if has_schema(manifest)]
    if not known:
        return []
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        return [*_types(known, Path(folder)), *_validators(known, Path(folder))]


def _types(manifests: list[Manifest], folder: Path) -> list[str]:
    lines = [
        f"export const m{n}: import({_module(each)}).I{each['kind']} = {json.dumps(each)};"
        for n, each in enumerate(manifests)
    ]
    (folder / "check.ts").write_text("\n".join(lines))
    compiler = FOLDER / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        ["node", compiler, *OPTIONS, *MODULES, "check.ts"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
    )
    found = re.findall(r"^check\.ts\((\d+),\d+\): error \w+: (.*)$", done.stdout, re.MULTILINE)
    assert bool(found) == bool(done.returncode), done.stdout
    return [f"{_name(manifests[int(line) - 1])}: {message}" for line, message in found]


VALIDATE = """
import { readFileSync } from "node:fs";
for (const [module, kind, name, manifest] of JSON.parse(readFileSync("manifests.json", "utf8"))) {
  const model = new (await import(module))[kind](manifest);
  try { model.validate(); } catch (problem) {
    console.log(`${name}: ${problem.message.replaceAll("\\n", "; ")}`);
  }
}
"""


def _validators(manifests: list[Manifest], folder: Path) -> list[str]:
    given = [(json.loads(_module(each)), each["kind"], _name(each), each) for each in manifests]
    (folder / "manifests.json").write_text(json.dumps(given))
    (folder / "check.mjs").write_text(VALIDATE)
    done = subprocess.run(
        ["node", "check.mjs"], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _module(manifest: Manifest) -> str:
    package = PACKAGES[manifest["apiVersion"]].rpartition("@")[0]
    return json.dumps(f"{package}/{manifest['apiVersion']}/{manifest['kind']}")


def _name(manifest: Manifest) -> str:
    return f"{manifest['kind']}/{manifest['metadata']['name']}"
