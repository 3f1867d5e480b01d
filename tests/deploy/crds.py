"""Other people's kinds against their own schemas, which npm packages carry: fetched when asked for, kept in
the virtual environment, never in the repository. TypeScript finds unknown fields and wrong types, the
packages' validators the rest.
"""

import fcntl
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from tests.deploy.kustomizing import Manifest

PACKAGES = {
    "postgresql.cnpg.io/v1": "@kubernetes-models/cloudnative-pg@2.0.0",
    "keda.sh/v1alpha1": "@kubernetes-models/keda@2.0.0",
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator@6.0.0",
    "gateway.networking.k8s.io/v1": "@kubernetes-models/gateway-api@2.0.0",
}
COMPILER = "typescript@5.9.3"
FOLDER = Path(sys.prefix) / "crd-schemas"
OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--pretty", "false"]
MODULES = ["--module", "nodenext", "--moduleResolution", "nodenext"]
# Every worker of a test run would wait for a registry that one has found to be away.
ASK_AGAIN_SECONDS = 600
NPM_TIMEOUTS = ["--fetch-retries=1", "--fetch-timeout=20000", "--fetch-retry-mintimeout=1000"]
INSTALL = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock"]


@cache
def why_not() -> str | None:
    """The reason why the schemas cannot be had here; None when they are there."""
    wanted = sorted([*PACKAGES.values(), COMPILER])
    if not (shutil.which("npm") and shutil.which("node")):
        return "node and npm are not here"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark, failed = FOLDER / "installed.json", FOLDER / "failed"
        if mark.exists() and json.loads(mark.read_text()) == wanted:
            return None
        if failed.exists() and time.time() - failed.stat().st_mtime < ASK_AGAIN_SECONDS:
            return failed.read_text()
        (FOLDER / "package.json").write_text('{"private": true, "type": "module"}')
        if reason := _install(wanted):
            failed.write_text(reason)
            return reason
        mark.write_text(json.dumps(wanted))
    return None


def _install(packages: list[str]) -> str | None:
    command = [*INSTALL, *NPM_TIMEOUTS, *packages]
    try:
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired:
        return "npm did not answer in time"
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        return f"npm cannot fetch the schemas: {' '.join(said[:1]) or 'it does not say why'}"
    return None


def has_schema(manifest: Manifest) -> bool:
    return manifest["apiVersion"] in PACKAGES


def problems(manifests: list[Manifest]) -> list[str]:
    """What the schemas have against those manifests that they know; the schemas must be there."""
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
