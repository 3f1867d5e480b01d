"""Who may reach whom under the chart's network policies."""

from ipaddress import ip_network
from itertools import product
from typing import Any

import pytest

from services.webhooks.rules.urls import FORBIDDEN_4, FORBIDDEN_6
from tests.deploy.chart import DEPLOYMENTS, FOREIGN_PODS, VARIANTS, Manifest, named, pod_labels, rendered
from tests.deploy.network_reachability import reached_from, reaches, reaches_namespace

BEHIND = ("catalog", "bookings", "forms", "webhooks-log")
PUBLISHING = (*BEHIND, "webhooks-dispatch")
PORTS = (8080, 8081, 5432, 5672)


@pytest.fixture(params=VARIANTS)
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    return rendered(request.param)


def _policies(manifests: list[Manifest]) -> list[Manifest]:
    return list(named(manifests, "NetworkPolicy").values())


def test_nobody_reaches_anybody_but_as_intended(manifests: list[Manifest]) -> None:
    """Every pair of pods on every port, against the complete list of intended connections."""
    policies, pods = _policies(manifests), {**pod_labels(manifests), **FOREIGN_PODS}
    database = "postgres" if "postgres" in pods else "database"
    broker = "rabbitmq" if "rabbitmq" in pods else "broker"
    meant = {("gateway", service, 8080) for service in BEHIND}
    meant |= {(service, database, 5432) for service in (*DEPLOYMENTS, "migrate")}
    meant |= {(service, broker, 5672) for service in PUBLISHING}
    ours = {*DEPLOYMENTS, "migrate"}
    if broker == "broker":  # the operators' clusters among themselves
        meant |= {("broker", "broker", port) for port in (*PORTS, 4369, 25672)}
        meant |= {("database", "database", 5432), ("database-job", "database", 5432)}
        ours |= FOREIGN_PODS.keys()
    found = {
        (one, other, port)
        for one, other, port in product(ours, {*ours, database, broker}, {*PORTS, 4369, 25672})
        if reaches(policies, pods[one], pods[other], port)
    }
    assert {way for way in found if way[1] != "database-job"} == meant


def test_only_the_gateway_reaches_a_valkey(manifests: list[Manifest]) -> None:
    """It keeps the gateways' rate limits: in this namespace by its pods' label, or in a labelled one."""
    policies, pods = _policies(manifests), pod_labels(manifests)
    valkey = {"studio/valkey": "true"}
    ours = (*DEPLOYMENTS, "migrate")
    found = {(name, p) for name, p in product(ours, (6379, 8080)) if reaches(policies, pods[name], valkey, p)}
    assert found == {("gateway", 6379)}
    assert {name for name in ours if reaches_namespace(policies, pods[name], valkey, 6379)} == {"gateway"}


def test_other_namespaces_come_in_where_their_label_says(manifests: list[Manifest]) -> None:
    """Partners through the ingress, operators and Prometheus on their own ports."""
    policies, pods = _policies(manifests), pod_labels(manifests)
    meant = {"ingress": {("gateway", 8080)}, "operators": {("gateway", 8081)}, "stranger": set()}
    meant["monitoring"] = {("gateway", 8081)} | {(service, 8080) for service in PUBLISHING}
    for label, open_ports in meant.items():
        found = {
            (name, port)
            for name, port in product((*DEPLOYMENTS, "migrate"), PORTS)
            if reached_from(policies, {f"studio/{label}": "true"}, pods[name], port)
        }
        assert found == open_ports, label


def test_a_certificates_challenge_reaches_its_solver_and_nothing_else_does() -> None:
    """Found by reading: with everything denied, no certificate was issued by HTTP-01."""
    manifests = rendered()
    policies = _policies(manifests)
    solver = {"acme.cert-manager.io/http01-solver": "true", "acme.cert-manager.io/http-domain": "1234"}
    found = {
        (label, port)
        for label, port in product(("ingress", "operators", "monitoring", "stranger"), (8080, 8081, 8089))
        if reached_from(policies, {f"studio/{label}": "true"}, solver, port)
    }
    assert found == {("ingress", 8089)}
    assert not any(
        reaches(policies, one, other, port)
        for pod in (*pod_labels(manifests).values(), *FOREIGN_PODS.values())
        for one, other in ((pod, solver), (solver, pod))
        for port in (*PORTS, 8089)
    )


@pytest.mark.parametrize("elsewhere", [False, True], ids=["their usual namespaces", "other namespaces"])
def test_operators_and_prometheus_reach_the_database_and_the_broker(elsewhere: bool) -> None:
    """Found on a real cluster: nothing could reach a broker whose pods had none of our labels."""
    usual = {"keda": "keda", "cloudnativePG": "cnpg-system", "rabbitmq": "rabbitmq-system"}
    spaces = {name: f"our-{space}" if elsewhere else space for name, space in usual.items()}
    policies = _policies(rendered(given={"operatorNamespaces": spaces} if elsewhere else {}))
    label = "kubernetes.io/metadata.name"
    meant = [
        ({label: spaces["cloudnativePG"]}, "database", {5432, 8000}),
        ({label: spaces["keda"]}, "database", {5432}),
        ({label: spaces["rabbitmq"]}, "broker", {5672, 15672}),
        ({"studio/monitoring": "true"}, "database", {9187}),
        ({"studio/monitoring": "true"}, "broker", {15692}),
        ({"studio/ingress": "true"}, "database", set()),
        ({"studio/ingress": "true"}, "broker", set()),
    ]
    for namespace, pod, open_ports in meant:
        ports = (5432, 8000, 9187, 5672, 15672, 15692, 8080)
        found = {p for p in ports if reached_from(policies, namespace, FOREIGN_PODS[pod], p)}
        assert found == open_ports, (namespace, pod)


def _ways_out(manifests: list[Manifest]) -> dict[str, list[Any]]:
    """The rules of each policy that open addresses."""
    found = {
        policy["metadata"]["name"]: [
            rule
            for rule in policy["spec"].get("egress", ())
            if any("ipBlock" in peer for peer in rule.get("to", ()))
        ]
        for policy in _policies(manifests)
    }
    return {name: rules for name, rules in found.items() if rules}


def test_only_the_dispatcher_goes_out_and_not_where_it_refuses_to(manifests: list[Manifest]) -> None:
    """Policy and code have the same list; every port is open, because partners choose theirs."""
    policy = named(manifests, "NetworkPolicy")["dispatcher"]["spec"]
    assert policy["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "webhooks-dispatch"}}
    ways = _ways_out(manifests)
    [rule] = ways.pop("dispatcher")
    assert ways == {}
    closed: list[Any] = [ip_network(text) for peer in rule["to"] for text in peer["ipBlock"]["except"]]
    forbidden: list[Any] = [*FORBIDDEN_4, *FORBIDDEN_6]
    for network in forbidden:
        assert any(network.version == each.version and network.subnet_of(each) for each in closed), network
    assert rule["ports"] == [{"protocol": "TCP", "port": 1, "endPort": 65535}]


def test_a_database_and_a_broker_elsewhere_are_reached_at_their_addresses() -> None:
    """And at no other: each by the services that use it."""
    made = rendered(
        given={
            "database.kind": "external",
            "database.external": {"cidrs": ["10.1.2.0/24"], "port": 6432},
            "broker.kind": "external",
            "broker.external.cidrs": ["10.1.3.7/32", "10.1.3.8/32"],
        }
    )
    ways = _ways_out(made)
    del ways["dispatcher"]
    assert ways == {
        "services-to-database": [
            {"to": [{"ipBlock": {"cidr": "10.1.2.0/24"}}], "ports": [{"protocol": "TCP", "port": 6432}]}
        ],
        "services-to-broker": [
            {
                "to": [{"ipBlock": {"cidr": "10.1.3.7/32"}}, {"ipBlock": {"cidr": "10.1.3.8/32"}}],
                "ports": [{"protocol": "TCP", "port": 5672}],
            }
        ],
    }
    assert {"database", "broker"}.isdisjoint(named(made, "NetworkPolicy"))
