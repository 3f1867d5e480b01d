"""Other people's kinds, checked strictly: by their own schemas, which npm packages carry. RabbitMQ and the
backup plugin publish no usable schema; theirs are checked by our list of the fields that we use.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.deploy.chart import Manifest
from tests.harness.npm_packages import TYPESCRIPT, NpmPackages

_COMMON = "apiVersion kind metadata.name metadata.labels.… metadata.annotations.…"
# A field that is not listed is an error; `…` at the end of a path allows anything below it.
FIELDS = {
    "barmancloud.cnpg.io/v1 ObjectStore": """
        spec.retentionPolicy spec.configuration.destinationPath spec.configuration.endpointURL
        spec.configuration.s3Credentials.accessKeyId.name
        spec.configuration.s3Credentials.accessKeyId.key spec.configuration.s3Credentials.secretAccessKey.name
        spec.configuration.s3Credentials.secretAccessKey.key spec.configuration.wal.compression
        spec.configuration.wal.maxParallel spec.configuration.data.compression""",
    "rabbitmq.com/v1beta1 RabbitmqCluster": """
        spec.image spec.replicas spec.persistence.storage spec.persistence.storageClassName
        spec.resources.requests.cpu spec.resources.requests.memory
        spec.resources.limits.memory spec.rabbitmq.additionalConfig
        spec.override.statefulSet.spec.template.spec.…
        spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.topologyKey
        spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.labelSelector.…""",
    "rabbitmq.com/v1beta1 User": "spec.rabbitmqClusterReference.name",
    "rabbitmq.com/v1beta1 Permission": """
        spec.rabbitmqClusterReference.name spec.userReference.name spec.vhost
        spec.permissions.configure spec.permissions.write spec.permissions.read""",
}
PACKAGES = {
    "postgresql.cnpg.io/v1": "@kubernetes-models/cloudnative-pg@2.0.0",
    "keda.sh/v1alpha1": "@kubernetes-models/keda@2.0.0",
    "monitoring.coreos.com/v1": "@kubernetes-models/prometheus-operator@6.0.0",
    "gateway.networking.k8s.io/v1": "@kubernetes-models/gateway-api@2.0.0",
}
OPERATOR_API_GROUPS = (*PACKAGES, *sorted({kind.partition(" ")[0] for kind in FIELDS}))


def unknown_fields(manifest: Manifest) -> list[str]:
    """Fields that are not in the list, of a kind that is."""
    kind = f"{manifest['apiVersion']} {manifest['kind']}"
    if kind not in FIELDS:
        return []
    known = {*_COMMON.split(), *FIELDS[kind].split()}
    free = tuple(name.removesuffix("…") for name in known if name.endswith("…"))
    return [path for path in _paths(manifest) if path not in known and not path.startswith(free)]


def _paths(value: Any, before: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _paths(part, f"{before}.{name}" if before else name)
    elif isinstance(value, list):
        for part in value:
            yield from _paths(part, before)
    else:
        yield before


INSTALLED = NpmPackages("crd-schemas", [*PACKAGES.values(), TYPESCRIPT])
OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--pretty", "false"]
MODULES = ["--module", "nodenext", "--moduleResolution", "nodenext"]


def has_schema(manifest: Manifest) -> bool:
    return manifest["apiVersion"] in PACKAGES


def schema_problems(manifests: list[Manifest]) -> list[str]:
    """The problems that the schemas find in the manifests that they cover. They must be installed."""
    assert INSTALLED.why_not() is None, INSTALLED.why_not()
    known = [manifest for manifest in manifests if has_schema(manifest)]
    with tempfile.TemporaryDirectory(dir=INSTALLED.folder) as folder:
        return [*_types(known, Path(folder)), *_validators(known, Path(folder))]


def _types(manifests: list[Manifest], folder: Path) -> list[str]:
    lines = [
        f"export const m{n}: import({_module(each)}).I{each['kind']} = {json.dumps(each)};"
        for n, each in enumerate(manifests)
    ]
    (folder / "check.ts").write_text("\n".join(lines))
    compiler = INSTALLED.script("typescript/bin/tsc")
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
