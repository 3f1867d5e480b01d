"""The fields that we use of other people's kinds, of which there is no schema here: a misspelt one is found.

A name that is not listed is a problem; `…` ends a path under which anything may stand.
"""

from collections.abc import Iterator
from typing import Any

_COMMON = "apiVersion kind metadata.name metadata.namespace metadata.labels.…"
FIELDS = {
    "postgresql.cnpg.io/v1 Cluster": """
        spec.instances spec.postgresql.synchronous.method spec.postgresql.synchronous.number
        spec.postgresql.synchronous.dataDurability spec.postgresql.parameters.…
        spec.bootstrap.initdb.database spec.bootstrap.initdb.owner spec.bootstrap.initdb.secret.name
        spec.managed.roles.name spec.managed.roles.ensure spec.managed.roles.login
        spec.managed.roles.createrole spec.managed.roles.passwordSecret.name
        spec.inheritedMetadata.labels.… spec.affinity.enablePodAntiAffinity
        spec.affinity.podAntiAffinityType spec.affinity.topologyKey spec.storage.size spec.walStorage.size
        spec.resources.requests.cpu spec.resources.requests.memory spec.resources.limits.memory
        spec.backup.volumeSnapshot.className spec.backup.volumeSnapshot.online""",
    "postgresql.cnpg.io/v1 ScheduledBackup": "spec.schedule spec.method spec.cluster.name",
    "rabbitmq.com/v1beta1 RabbitmqCluster": """
        spec.replicas spec.persistence.storage spec.resources.requests.cpu spec.resources.requests.memory
        spec.resources.limits.memory spec.rabbitmq.additionalConfig
        spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.topologyKey
        spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.labelSelector.…""",
    "keda.sh/v1alpha1 ScaledObject": """
        spec.scaleTargetRef.name spec.minReplicaCount spec.maxReplicaCount spec.cooldownPeriod
        spec.triggers.type spec.triggers.authenticationRef.name spec.triggers.metadata.queueName
        spec.triggers.metadata.mode spec.triggers.metadata.value spec.triggers.metadata.query
        spec.triggers.metadata.targetQueryValue""",
    "keda.sh/v1alpha1 TriggerAuthentication": """
        spec.secretTargetRef.parameter spec.secretTargetRef.name spec.secretTargetRef.key""",
}


def unknown_fields(manifest: dict[str, Any]) -> list[str]:
    """What of a foreign manifest is not among the fields that are known to exist."""
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
