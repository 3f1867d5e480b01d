"""What the chart's values do: every part of a cluster can be chosen, and what makes no sense is refused."""

import re
from typing import Any

import pytest

from shared.settings import NEEDED_SECRETS, SECRETS, SERVICES
from tests.deploy.__main__ import problems
from tests.deploy.chart import (
    DEPLOYMENTS,
    KUBERNETES,
    VARIANTS,
    Manifest,
    is_valid,
    named,
    pods,
    read,
    rendered,
    values,
)
from tests.harness.system import ROOT

DIGEST = "sha256:" + "a" * 64
OWN_SERVERS = {
    "database.kind": "external",
    "database.external.cidrs": ["10.1.2.0/24"],
    "broker.kind": "external",
    "broker.external.cidrs": ["10.1.3.0/24"],
}


def secrets_of(variant: str) -> dict[str, Manifest]:
    """The secrets that the chart creates or, for production, that the example lists."""
    expected = read(KUBERNETES / "secrets.example.yaml") if variant == "production" else []
    return named([*rendered(variant), *expected], "Secret")


def _job(**given: Any) -> Manifest:
    [job] = named(rendered(given=given), "Job").values()
    return job


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_pod_misses_a_secret(variant: str) -> None:
    """Everything that a pod reads its settings from is rendered or listed."""
    there = {*secrets_of(variant), *named(rendered(variant), "ConfigMap")}
    for pod in pods(rendered(variant)).values():
        for container in pod["containers"]:
            sources = {next(iter(source.values()))["name"] for source in container.get("envFrom", ())}
            assert sources <= there


def test_production_brings_no_secret_that_would_overwrite_a_real_one() -> None:
    """Applying templates once replaced every password with CHANGE-ME."""
    assert named(rendered(), "Secret") == {}


def test_the_example_names_every_secret_that_production_refers_to() -> None:
    """By pods, database, backups and KEDA; operators make the certificate and the broker's login."""
    text = repr([each for each in rendered() if each["kind"] != "Gateway"])
    ours = {f"studio-{name}" for name in (*SERVICES, "migrate")}
    assert set(secrets_of("production")) == ours | {"studio-db-owner", "studio-backup-store"}
    assert all(f"'name': '{name}'" in text for name in secrets_of("production"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_service_gets_the_secrets_it_needs_and_no_other(variant: str) -> None:
    """Only the gateway has the operator token, only the dispatcher the encryption key."""
    found = secrets_of(variant)
    for service in SERVICES:
        wanted = {SECRETS[name] for name in NEEDED_SECRETS[service]} | {"STUDIO_DATABASE_URL"}
        if service == "gateway" and variant == "production":
            # Its key of each service, where that service has it as its only one.
            wanted -= {"STUDIO_CALLER_KEY"}
            wanted |= {f"STUDIO_CALLER_KEY_{other.upper()}" for other in SERVICES if other != "gateway"}
        assert set(found[f"studio-{service}"]["stringData"]) - {"STUDIO_AMQP_URL"} == wanted


def test_production_checks_the_databases_certificate_and_its_name() -> None:
    """`sslmode=require` encrypts but checks no certificate. In the URL it would override the setting."""
    manifests = rendered()
    settings = named(manifests, "ConfigMap")["studio-settings"]["data"]
    assert settings["PGSSLMODE"] == "verify-full"
    assert settings["PGSSLROOTCERT"] == "/etc/studio/database/ca.crt"
    assert "sslmode" not in (KUBERNETES / "secrets.example.yaml").read_text()
    for pod in pods(manifests).values():
        [container] = pod["containers"]
        assert {"name": "studio-settings"} in [source.get("configMapRef") for source in container["envFrom"]]
        [mount] = [one for one in container["volumeMounts"] if one["name"] == "database-ca"]
        [volume] = [one for one in pod["volumes"] if one["name"] == "database-ca"]
        assert mount["mountPath"] == "/etc/studio/database" and mount["readOnly"]
        items = [{"key": "ca.crt", "path": "ca.crt"}]
        assert volume["secret"] == {"secretName": "studio-db-ca", "items": items}


def test_a_migration_job_gets_another_name_when_its_pod_changes_and_only_then() -> None:
    """A job is immutable: under its old name the whole upgrade would be refused. With a new name at each
    change of a setting, or if it expired or were a hook of Argo CD, it would run again and again.
    """
    job = _job()
    for path, value in (
        ("image.tag", "1.0.1"),
        ("image.name", "registry.example/studio-partner-api"),
        ("image.digest", DIGEST),
        ("image.pullSecrets", ["registry"]),
        ("database.name", "studio-db-2"),
        ("database.kind", "single"),
    ):
        changed = _job(**{path: value})
        assert changed["spec"]["template"] != job["spec"]["template"], path
        assert changed["metadata"]["name"] != job["metadata"]["name"], path
        assert re.fullmatch(r"migrate-1-0-[01](-rc)?-[0-9a-f]{8}", changed["metadata"]["name"])
    for path, value in (("settings.STUDIO_POOL_SIZE", "11"), ("edge.host", "api.example.com")):
        assert _job(**{path: value}) == job
    assert "ttlSecondsAfterFinished" not in job["spec"]
    annotations = job["metadata"]["annotations"]
    assert not any("argocd.argoproj.io/hook" in each for each in annotations)
    assert annotations["kustomize.toolkit.fluxcd.io/force"] == "enabled"
    assert "Force=true" in annotations["argocd.argoproj.io/sync-options"]


def test_the_longest_tag_still_fits_the_jobs_name() -> None:
    """63 characters: the name is a label of its pods."""
    longest = "1.0.0-" + "a" * 40
    assert is_valid({"image.tag": longest}) and not is_valid({"image.tag": longest + "a"})
    assert len(_job(**{"image.tag": longest})["metadata"]["name"]) == 63


def test_a_cluster_without_any_operator_needs_only_a_database_and_a_broker() -> None:
    """For a managed Postgres and RabbitMQ: nothing but what Kubernetes has, still two replicas of each."""
    given = {**OWN_SERVERS, "keda.enabled": False, "edge.enabled": False, "monitoring.enabled": False}
    assert is_valid(given)
    manifests = rendered(given=given)
    assert problems(manifests) == []
    assert not [each["kind"] for each in manifests if "." in each["apiVersion"].partition(".k8s.io/")[0]]
    deployments = named(manifests, "Deployment")
    assert deployments["webhooks-dispatch"]["spec"]["replicas"] == 2
    assert set(named(manifests, "HorizontalPodAutoscaler")) == set(DEPLOYMENTS) - {"webhooks-dispatch"}
    for name, pod in pods(manifests).items():
        env = {each["name"] for each in pod["containers"][0].get("env", ())}
        assert env == ({"STUDIO_OPERATOR_HOST"} if name == "gateway" else set()), "the URL is in the secret"


def test_registry_storage_object_store_and_valkey_can_be_ones_own() -> None:
    """A private registry, another storage class, a store that is not Amazon's; a Valkey is one setting."""
    given = {
        "image.pullSecrets": ["registry"],
        "database.cluster.storageClass": "fast",
        "broker.cluster.storageClass": "fast",
        "database.cluster.backup.endpointURL": "https://store.example",
        "settings.STUDIO_VALKEY_URL": "valkey://valkey.cache.svc:6379/0",
    }
    assert is_valid(given)
    manifests = rendered(given=given)
    assert problems(manifests) == []
    for pod in pods(manifests).values():
        assert pod["imagePullSecrets"] == [{"name": "registry"}]
    database = named(manifests, "Cluster")["studio-db"]["spec"]
    assert database["storage"]["storageClass"] == database["walStorage"]["storageClass"] == "fast"
    broker = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]
    assert broker["persistence"]["storageClassName"] == "fast"
    store = named(manifests, "ObjectStore")["studio-backups"]["spec"]["configuration"]
    assert store["endpointURL"] == "https://store.example"
    settings = named(manifests, "ConfigMap")["studio-settings"]["data"]
    assert settings["STUDIO_VALKEY_URL"] == given["settings.STUDIO_VALKEY_URL"]
    assert "STUDIO_VALKEY_URL" not in values()["settings"]


def test_the_page_on_installing_names_every_value() -> None:
    """By its first word: an operator finds there what can be chosen."""
    page = (ROOT / "docs" / "operating" / "install.md").read_text()
    assert [name for name in values() if f"`{name}" not in page] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("image.tag", "latest"),
        ("image.digest", "a1b2"),
        ("services.gatewy", {"cpu": "1"}),
        ("services.gateway.cpu", "lots"),
        ("services.gateway.maxReplicas", 1),
        ("secrets.studio-forms", {"STUDIO_CALLER_KEY": "CHANGE-ME"}),
        ("database.name", "other-db"),
        ("database.cluster.recovery", {"from": "studio-db"}),
        ("database.cluster.recovery", {"from": "studio-db", "to": "now"}),
        ("database.kind", "none"),
        ("database.kind", "external"),
        ("database.cluster.image", "postgres:17"),
        ("database.cluster.backup.retentionPolicy", "always"),
        ("broker.cluster.replicas", 2),
        ("settings.STUDIO_POOL_SIZE", 10),
        ("settings.STUDIO_VALKEY_URL", "http://valkey:6379"),
        ("settings.STUDIO_VALKEY_URL", "valkey://default:secret@valkey:6379/0"),
    ],
)
def test_values_that_make_no_sense_are_refused(path: str, value: Any) -> None:
    """Before anything is applied, and by name. Without addresses `external` would open all of them.

    The alerts would not watch a database of another name, and half a recovery is none.
    """
    assert not is_valid({path: value})
