"""Other people's kinds, checked strictly: by their own schemas, which npm packages carry, and everywhere by
our list of the fields that we use. RabbitMQ and the backup plugin publish no usable schema.
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
    "postgresql.cnpg.io/v1 Cluster": """
        spec.imageName spec.instances spec.postgresql.synchronous.method spec.postgresql.synchronous.number
        spec.postgresql.synchronous.dataDurability spec.postgresql.parameters.…
        spec.bootstrap.initdb.database spec.bootstrap.initdb.owner spec.bootstrap.initdb.secret.name
        spec.managed.roles.name spec.managed.roles.ensure spec.managed.roles.login
        spec.managed.roles.createrole spec.managed.roles.passwordSecret.name
        spec.affinity.enablePodAntiAffinity
        spec.affinity.podAntiAffinityType spec.affinity.topologyKey spec.storage.size
        spec.storage.storageClass
        spec.walStorage.size spec.walStorage.storageClass
        spec.resources.requests.cpu spec.resources.requests.memory spec.resources.limits.memory
        spec.plugins.name spec.plugins.isWALArchiver spec.plugins.parameters.…
        spec.certificates.serverAltDNSNames
        spec.bootstrap.recovery.database spec.bootstrap.recovery.owner spec.bootstrap.recovery.secret.name
        spec.bootstrap.recovery.source spec.bootstrap.recovery.recoveryTarget.targetTime
        spec.externalClusters.name spec.externalClusters.plugin.name
        spec.externalClusters.plugin.parameters.…""",
    "postgresql.cnpg.io/v1 ScheduledBackup": """
        spec.schedule spec.method spec.cluster.name spec.immediate spec.backupOwnerReference
        spec.pluginConfiguration.name""",
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
    "keda.sh/v1alpha1 ScaledObject": """
        spec.scaleTargetRef.name spec.minReplicaCount spec.maxReplicaCount spec.cooldownPeriod
        spec.fallback.failureThreshold spec.fallback.replicas spec.fallback.behavior
        spec.triggers.type spec.triggers.authenticationRef.name spec.triggers.metadata.query
        spec.triggers.metadata.targetQueryValue""",
    "keda.sh/v1alpha1 TriggerAuthentication": """
        spec.secretTargetRef.parameter spec.secretTargetRef.name spec.secretTargetRef.key""",
    "monitoring.coreos.com/v1 PodMonitor": """
        spec.selector.… spec.podMetricsEndpoints.port spec.podMetricsEndpoints.interval
        spec.podMetricsEndpoints.relabelings.targetLabel spec.podMetricsEndpoints.relabelings.replacement
        spec.podMetricsEndpoints.relabelings.sourceLabels""",
    "monitoring.coreos.com/v1 PrometheusRule": """
        spec.groups.name spec.groups.rules.alert spec.groups.rules.expr spec.groups.rules.for
        spec.groups.rules.labels.… spec.groups.rules.annotations.…""",
    "gateway.networking.k8s.io/v1 Gateway": """
        spec.gatewayClassName spec.listeners.name spec.listeners.port spec.listeners.protocol
        spec.listeners.hostname spec.listeners.tls.mode spec.listeners.tls.certificateRefs.kind
        spec.listeners.tls.certificateRefs.name spec.listeners.allowedRoutes.namespaces.from""",
    "gateway.networking.k8s.io/v1 HTTPRoute": """
        spec.parentRefs.name spec.parentRefs.sectionName spec.hostnames spec.rules.filters.type
        spec.rules.filters.requestRedirect.scheme spec.rules.filters.requestRedirect.statusCode
        spec.rules.backendRefs.name spec.rules.backendRefs.port spec.rules.timeouts.request""",
}
OPERATOR_API_GROUPS = tuple(sorted({kind.partition("/")[0] + "/" for kind in FIELDS}))


def unknown_fields(manifest: Manifest) -> list[str]:
    """Fields of a custom resource that are not in the list."""
    kind = f"{manifest['apiVersion']} {manifest['kind']}"
    known = {*_COMMON.split(), *FIELDS.get(kind, "").split()}
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


def schema_problems(manifests: list[Manifest]) -> list[str]:
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
