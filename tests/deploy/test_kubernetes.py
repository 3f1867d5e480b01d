"""The manifests: restricted pods, probes, drains, disruption budgets and network policies."""

from typing import Any

import pytest

from shared.settings import NEEDED_SECRETS, SECRETS, SERVICES
from tests.deploy.__main__ import problems
from tests.deploy.chart import comparable
from tests.deploy.kustomizing import build, read
from tests.deploy.manifests import (
    DEPLOYMENTS,
    KUBERNETES,
    OVERLAYS,
    Manifest,
    base,
    built,
    kustomize,
    named,
    overlay,
    pods,
)
from tests.deploy.pod_security import violations

needs_kustomize = pytest.mark.skipif(kustomize() is None, reason="neither kustomize nor kubectl is here")


@pytest.fixture(scope="module")
def manifests() -> list[Manifest]:
    return base()


def test_every_manifest_is_strictly_valid(manifests: list[Manifest]) -> None:
    """The API server would silently drop a misspelt field."""
    assert problems(manifests) == []


def test_a_misspelt_field_is_found(manifests: list[Manifest]) -> None:
    """Proves that the check can fail."""
    bad: Any = {**named(manifests, "Deployment")["gateway"]}
    bad["spec"] = {**bad["spec"], "replica": 2}
    assert problems([bad])


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_overlay_builds_is_valid_and_misses_no_secret(name: str) -> None:
    """Everything that a pod reads its settings from is in the overlay, or created by a listed operator."""
    found = overlay(name)
    assert problems(found) == []
    there = {*secrets_of(name, found), *named(found, "ConfigMap")}
    for pod in pods(found).values():
        for container in pod["containers"]:
            sources = [next(iter(source.values()))["name"] for source in container.get("envFrom", ())]
            assert set(sources) <= there
    assert_restricted(found)


def secrets_of(name: str, manifests: list[Manifest]) -> dict[str, Manifest]:
    """The secrets that the overlay creates or, for production, that the example lists."""
    expected = read(KUBERNETES / "secrets.example.yaml") if name == "production" else []
    return named([*manifests, *expected], "Secret")


def test_production_brings_no_secret_that_would_overwrite_a_real_one() -> None:
    """`kubectl apply -k` with templates once replaced every password with CHANGE-ME."""
    assert named(overlay("production"), "Secret") == {}


def test_the_example_names_every_secret_that_production_refers_to() -> None:
    """By pods, database, backups and KEDA; operators make the certificate and the broker's login."""
    found = overlay("production")
    text = repr([each for each in found if each["kind"] != "Gateway"])
    wanted = {
        "studio-db-owner",
        "studio-backup-store",
        *(f"studio-{name}" for name in (*SERVICES, "migrate")),
    }
    assert set(secrets_of("production", found)) == wanted
    assert all(f"'name': '{name}'" in text for name in wanted)


@needs_kustomize
@pytest.mark.parametrize("folder", ["base", *(f"overlays/{name}" for name in OVERLAYS)])
def test_what_we_put_together_is_what_kustomize_makes(folder: str) -> None:
    """Machines without kustomize check the same objects: every field, except hashes in generated names."""
    assert comparable(build(KUBERNETES / folder)) == comparable(built(folder))


def test_every_pod_is_restricted_and_cannot_write(manifests: list[Manifest]) -> None:
    """The namespace enforces it; this test finds it before anything is applied."""
    assert_restricted(manifests)
    for pod in pods(manifests).values():
        assert all(container["securityContext"]["readOnlyRootFilesystem"] for container in pod["containers"])
        assert pod["automountServiceAccountToken"] is False


def assert_restricted(manifests: list[Manifest]) -> None:
    assert {name: violations(pod) for name, pod in pods(manifests).items() if violations(pod)} == {}


def test_every_service_can_be_rolled_over(manifests: list[Manifest]) -> None:
    """Two replicas, a budget, probes, a drain that fits into the grace period, and resources said."""
    deployments, budgets = named(manifests, "Deployment"), named(manifests, "PodDisruptionBudget")
    services = named(manifests, "Service")
    assert set(deployments) == set(budgets) == set(DEPLOYMENTS) and set(services) >= set(SERVICES)
    settings = named(manifests, "ConfigMap")["studio-settings"]["data"]
    for deployment in deployments.values():
        assert deployment["spec"]["replicas"] >= 2
        assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        pod = deployment["spec"]["template"]["spec"]
        [container] = pod["containers"]
        before = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
        assert (
            before + 2 * 15 + float(settings["STUDIO_DRAIN_SECONDS"]) + 10
            <= pod["terminationGracePeriodSeconds"]
        )
        assert container["livenessProbe"]["httpGet"]["path"] == "/health/live"
        # It answers while it waits for the schema (test_starting.py): no probe needs minutes.
        startup = container["startupProbe"]
        assert startup["httpGet"]["path"] == "/health/live"
        assert startup["periodSeconds"] * startup["failureThreshold"] <= 60
        assert container["readinessProbe"]["httpGet"]["path"] == "/health/ready"
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_every_deployment_serves_its_own_part(manifests: list[Manifest]) -> None:
    """Two deployments of one program, each with one role, so that each scales on its own."""
    args = {
        name: deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        for name, deployment in named(manifests, "Deployment").items()
    }
    assert args.pop("webhooks-log") == ["serve", "webhooks", "--only", "log"]
    assert args.pop("webhooks-dispatch") == ["serve", "webhooks", "--only", "dispatch"]
    assert args == {name: ["serve", name] for name in SERVICES if name != "webhooks"}


def test_only_the_gateway_reaches_services_and_only_the_dispatcher_goes_out(
    manifests: list[Manifest],
) -> None:
    """Default deny; every exception is listed here."""
    policies = named(manifests, "NetworkPolicy")
    closed = policies.pop("nobody-to-anybody")["spec"]
    assert closed == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    out = {
        name
        for name, policy in policies.items()
        for rule in policy["spec"].get("egress", ())
        for peer in rule.get("to", ())
        if "ipBlock" in peer
    }
    assert out == {"dispatcher-to-partners"}
    assert policies["dispatcher-to-partners"]["spec"]["podSelector"] == {
        "matchLabels": {"app.kubernetes.io/name": "webhooks-dispatch"}
    }
    [rule] = policies["services-from-gateway"]["spec"]["ingress"]
    assert {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "gateway"}}} in rule["from"]


def test_each_service_gets_the_secrets_it_needs_and_no_other() -> None:
    """Only the gateway has the operator token, only the dispatcher the encryption key."""
    for name in OVERLAYS:
        found = secrets_of(name, overlay(name))
        for service in SERVICES:
            given = set(found[f"studio-{service}"].get("stringData") or found[f"studio-{service}"]["data"])
            wanted = {SECRETS[name] for name in NEEDED_SECRETS[service]} | {"STUDIO_DATABASE_URL"}
            if service == "gateway" and name == "production":
                # Its key of each service, where that service has it as its only one.
                wanted -= {"STUDIO_CALLER_KEY"}
                wanted |= {f"STUDIO_CALLER_KEY_{other.upper()}" for other in SERVICES if other != "gateway"}
            assert given - {"STUDIO_AMQP_URL"} == wanted


def test_production_checks_the_databases_certificate_and_its_name() -> None:
    """`sslmode=require` encrypts but checks no certificate. In the URL it would override the setting."""
    manifests = overlay("production")
    settings = named(manifests, "ConfigMap")["studio-settings"]["data"]
    assert (settings["PGSSLMODE"], settings["PGSSLROOTCERT"]) == (
        "verify-full",
        "/etc/studio/database/ca.crt",
    )
    assert "sslmode" not in (KUBERNETES / "secrets.example.yaml").read_text()
    for pod in pods(manifests).values():
        [container] = pod["containers"]
        assert {"name": "studio-settings"} in [source.get("configMapRef") for source in container["envFrom"]]
        [mount] = [one for one in container["volumeMounts"] if one["name"] == "database-ca"]
        [volume] = [one for one in pod["volumes"] if one["name"] == "database-ca"]
        assert mount["mountPath"] == "/etc/studio/database" and mount["readOnly"]
        assert volume["secret"] == {
            "secretName": "studio-db-ca",
            "items": [{"key": "ca.crt", "path": "ca.crt"}],
        }
