"""The overlays as a cluster reads them: selectors, targets, reachability and totals."""

from ipaddress import ip_network
from itertools import product
from typing import Any
from urllib.parse import urlsplit

import pytest

from services.webhooks.rules.addresses import FORBIDDEN_4, FORBIDDEN_6
from shared.db.database import RESERVED
from tests.deploy.kustomizing import read
from tests.deploy.manifests import DEPLOYMENTS, KUBERNETES, OVERLAYS, Manifest, named, overlay
from tests.deploy.network_reachability import reached_from, reaches, reaches_namespace, selects

BEHIND = ("catalog", "bookings", "forms", "webhooks-log")
SCRAPED = (*BEHIND, "webhooks-dispatch")
PUBLISHING = ("catalog", "bookings", "forms", "webhooks-log", "webhooks-dispatch")
# Services whose name differs from that of their pods.
BEHIND_A_NAME = {"studio-broker": "broker", "webhooks": "webhooks-log"}
# The operators' pods are not in our manifests. These are the labels that CloudNativePG (pkg/specs) and the
# RabbitMQ cluster operator (internal/metadata) put on them; a RabbitmqCluster's own labels reach no pod.
FOREIGN_PODS = {
    "database": {
        "cnpg.io/cluster": "studio-db",
        "cnpg.io/podRole": "instance",
        "cnpg.io/instanceRole": "primary",
        "app.kubernetes.io/name": "postgresql",
    },
    "database-job": {"cnpg.io/cluster": "studio-db", "cnpg.io/jobRole": "join"},
    "broker": {
        "app.kubernetes.io/name": "studio-broker",
        "app.kubernetes.io/component": "rabbitmq",
        "app.kubernetes.io/part-of": "rabbitmq",
    },
}
PORTS = {"http": 8080, "operators": 8081, "postgres": 5432, "rabbitmq": 5672}


@pytest.fixture(params=OVERLAYS)
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    return overlay(request.param)


def pod_labels(manifests: list[Manifest]) -> dict[str, dict[str, str]]:
    own = {
        found["metadata"]["name"]: found["spec"]["template"]["metadata"]["labels"]
        for found in manifests
        if found["kind"] in ("Deployment", "StatefulSet", "Job")
    }
    # The job's name has the version in it.
    return {("migrate" if name.startswith("migrate-") else name): labels for name, labels in own.items()}


def test_every_selector_selects_exactly_its_own_pods(manifests: list[Manifest]) -> None:
    """The API server accepts a selector that selects nothing, without a warning."""
    pods = pod_labels(manifests)
    for kind in ("Deployment", "StatefulSet", "Service", "PodDisruptionBudget"):
        for name, found in named(manifests, kind).items():
            selector = found["spec"]["selector"]
            selector = {"matchLabels": selector} if kind == "Service" else selector
            chosen = [pod for pod, labels in {**pods, **FOREIGN_PODS}.items() if selects(selector, labels)]
            wanted = BEHIND_A_NAME.get(name, name.removesuffix("-operators"))
            assert chosen == [wanted], (kind, name)
    for name, found in named(manifests, "Deployment").items():
        for spread in found["spec"]["template"]["spec"]["topologySpreadConstraints"]:
            assert selects(spread["labelSelector"], pods[name]), name


def test_every_service_leads_to_a_port_and_every_probe_too(manifests: list[Manifest]) -> None:
    """Ports are named; a name that no container has would reach nothing."""
    workloads = {**named(manifests, "Deployment"), **named(manifests, "StatefulSet")}
    for name, service in named(manifests, "Service").items():
        if name == "database":  # its pods are the operator's
            assert [port["targetPort"] for port in service["spec"]["ports"]] == [PORTS["postgres"]]
            continue
        workload = BEHIND_A_NAME.get(name, name.removesuffix("-operators"))
        [container] = workloads[workload]["spec"]["template"]["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert all(
            ports[port["targetPort"]] == PORTS[port["targetPort"]] for port in service["spec"]["ports"]
        )
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if "httpGet" in container.get(probe, {}):
                assert container[probe]["httpGet"]["port"] in ports


def test_nobody_reaches_anybody_but_as_intended(manifests: list[Manifest]) -> None:
    """Every pair of pods on every port, against the complete list of intended connections."""
    policies = list(named(manifests, "NetworkPolicy").values())
    pods = {**pod_labels(manifests), **FOREIGN_PODS}
    database = "postgres" if "postgres" in pods else "database"
    broker = "rabbitmq" if "rabbitmq" in pods else "broker"
    meant = {("gateway", service, 8080) for service in BEHIND}
    meant |= {(service, database, 5432) for service in (*DEPLOYMENTS, "migrate")}
    meant |= {(service, broker, 5672) for service in PUBLISHING}
    ours = {*DEPLOYMENTS, "migrate"}
    if broker == "broker":  # the operators' clusters among themselves
        meant |= {("broker", "broker", port) for port in (*PORTS.values(), 4369, 25672)}
        meant |= {("database", "database", 5432), ("database-job", "database", 5432)}
        ours |= FOREIGN_PODS.keys()
    found = {
        (one, other, port)
        for one, other, port in product(ours, {*ours, database, broker}, {*PORTS.values(), 4369, 25672})
        if reaches(policies, pods[one], pods[other], port)
    }
    assert {way for way in found if way[1] != "database-job"} == meant


def test_only_the_gateway_reaches_a_valkey(manifests: list[Manifest]) -> None:
    """It keeps the gateways' rate limits: in this namespace by its pods' label, or in a labelled one."""
    policies = list(named(manifests, "NetworkPolicy").values())
    pods = pod_labels(manifests)
    valkey = {"studio/valkey": "true"}
    ours = (*DEPLOYMENTS, "migrate")
    found = {(name, p) for name, p in product(ours, (6379, 8080)) if reaches(policies, pods[name], valkey, p)}
    assert found == {("gateway", 6379)}
    assert {name for name in ours if reaches_namespace(policies, pods[name], valkey, 6379)} == {"gateway"}


def test_other_namespaces_come_in_where_their_label_says(manifests: list[Manifest]) -> None:
    """Partners through the ingress, operators and Prometheus on their own ports."""
    policies = list(named(manifests, "NetworkPolicy").values())
    pods = pod_labels(manifests)
    meant = {"ingress": {("gateway", 8080)}, "operators": {("gateway", 8081)}, "stranger": set()}
    meant["monitoring"] = {("gateway", 8081)} | {(service, 8080) for service in SCRAPED}
    for label, doors in meant.items():
        found = {
            (name, port)
            for name, port in product((*DEPLOYMENTS, "migrate"), PORTS.values())
            if reached_from(policies, {f"studio/{label}": "true"}, pods[name], port)
        }
        assert found == doors, label


def test_a_certificates_challenge_reaches_its_solver_and_nothing_else_does() -> None:
    """Found by reading: with everything denied, no certificate was issued by HTTP-01."""
    policies = list(named(overlay("production"), "NetworkPolicy").values())
    solver = {"acme.cert-manager.io/http01-solver": "true", "acme.cert-manager.io/http-domain": "1234"}
    found = {
        (label, port)
        for label, port in product(("ingress", "operators", "monitoring", "stranger"), (8080, 8081, 8089))
        if reached_from(policies, {f"studio/{label}": "true"}, solver, port)
    }
    assert found == {("ingress", 8089)}
    pods = {**pod_labels(overlay("production")), **FOREIGN_PODS}
    assert not any(
        reaches(policies, one, other, port)
        for pod in pods.values()
        for one, other in ((pod, solver), (solver, pod))
        for port in (*PORTS.values(), 8089)
    )


def test_operators_and_prometheus_reach_the_database_and_the_broker_in_production() -> None:
    """Found on a real cluster: nothing could reach a broker whose pods had none of our labels."""
    policies = list(named(overlay("production"), "NetworkPolicy").values())
    keda, cnpg, rabbitmq = (
        {"kubernetes.io/metadata.name": name} for name in ("keda", "cnpg-system", "rabbitmq-system")
    )
    meant = [
        (cnpg, "database", {5432, 8000}),
        (keda, "database", {5432}),
        (rabbitmq, "broker", {5672, 15672}),
        ({"studio/monitoring": "true"}, "database", {9187}),
        ({"studio/monitoring": "true"}, "broker", {15692}),
        ({"studio/ingress": "true"}, "database", set()),
        ({"studio/ingress": "true"}, "broker", set()),
    ]
    for namespace, pod, doors in meant:
        ports = (5432, 8000, 9187, 5672, 15672, 15692, 8080)
        found = {p for p in ports if reached_from(policies, namespace, FOREIGN_PODS[pod], p)}
        assert found == doors, (namespace, pod)


def test_the_way_out_is_closed_to_all_that_the_dispatcher_refuses(manifests: list[Manifest]) -> None:
    """Policy and code have the same list; every port is open, because partners choose theirs."""
    [rule] = named(manifests, "NetworkPolicy")["dispatcher-to-partners"]["spec"]["egress"]
    closed: list[Any] = [ip_network(text) for peer in rule["to"] for text in peer["ipBlock"]["except"]]
    forbidden: list[Any] = [*FORBIDDEN_4, *FORBIDDEN_6]
    for network in forbidden:
        assert any(network.version == each.version and network.subnet_of(each) for each in closed), network
    assert rule["ports"] == [{"protocol": "TCP", "port": 1, "endPort": 65535}]


def scaled(manifests: list[Manifest]) -> dict[str, tuple[int, int]]:
    """Minimum and maximum replicas, by deployment."""
    found = {
        hpa["spec"]["scaleTargetRef"]["name"]: (hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"])
        for hpa in named(manifests, "HorizontalPodAutoscaler").values()
    }
    return found | {
        keda["spec"]["scaleTargetRef"]["name"]: (
            keda["spec"]["minReplicaCount"],
            keda["spec"]["maxReplicaCount"],
        )
        for keda in named(manifests, "ScaledObject").values()
    }


def test_in_production_every_service_is_scaled_and_only_by_its_autoscaler() -> None:
    """Each upgrade would reset replicas to the number in the manifest, in the middle of the load."""
    manifests = overlay("production")
    ranges = scaled(manifests)
    assert set(ranges) == set(named(manifests, "Deployment")) == set(DEPLOYMENTS)
    for name, deployment in named(manifests, "Deployment").items():
        assert "replicas" not in deployment["spec"], name
        budget = named(manifests, "PodDisruptionBudget")[name]["spec"]
        assert budget["maxUnavailable"] < ranges[name][0], "a node can be drained and somebody still answers"


def test_postgres_has_a_connection_for_every_replica_that_autoscaling_allows() -> None:
    """All at their maximum, one more of each during a roll-out, and some for administrators."""
    manifests = overlay("production")
    pool = int(named(manifests, "ConfigMap")["studio-settings"]["data"]["STUDIO_POOL_SIZE"]) + RESERVED
    needed = sum(
        (most + 1) * pool * (2 if name == "webhooks-dispatch" else 1)
        for name, (_, most) in scaled(manifests).items()
    )
    allowed = named(manifests, "Cluster")["studio-db"]["spec"]["postgresql"]["parameters"]["max_connections"]
    assert needed + 30 <= int(allowed), needed


def test_what_keda_reads_can_be_used_from_its_own_namespace() -> None:
    """A bare host name is resolved in the namespace of the client."""
    manifests = overlay("production")
    secrets = named(read(KUBERNETES / "secrets.example.yaml"), "Secret")
    for authentication in named(manifests, "TriggerAuthentication").values():
        for source in authentication["spec"]["secretTargetRef"]:
            url = secrets[source["name"]]["stringData"][source["key"]]
            assert str(urlsplit(url).hostname).endswith(".studio.svc")
