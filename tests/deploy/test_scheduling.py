"""Nodes drained, tainted or lost, and roll-outs meanwhile: a pod finds a place, or waits for a reason."""

import pytest

from tests.deploy.manifests import OVERLAYS, named, overlay, pods


@pytest.mark.parametrize("name", OVERLAYS)
def test_spreading_counts_only_nodes_and_replicas_that_matter(name: str) -> None:
    """If tainted nodes and old replicas counted, new replicas would find no node."""
    for deployment, pod in pods(overlay(name)).items():
        if not deployment.startswith("Deployment/"):
            continue
        constraints = pod["topologySpreadConstraints"]
        keys = [constraint["topologyKey"] for constraint in constraints]
        assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"], deployment
        for constraint in constraints:
            assert constraint["nodeTaintsPolicy"] == "Honor", deployment
            assert constraint["matchLabelKeys"] == ["pod-template-hash"], deployment


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_replica_of_ours_rather_shares_a_node_than_waits(name: str) -> None:
    """With a hard rule, one node full of other work would keep all other nodes at one replica."""
    for deployment, pod in pods(overlay(name)).items():
        for constraint in pod.get("topologySpreadConstraints", ()):
            assert constraint["whenUnsatisfiable"] == "ScheduleAnyway", deployment


def test_database_and_broker_never_have_two_members_on_one_node() -> None:
    """They hold the data: losing two of three loses the majority, so a member waits instead."""
    manifests = overlay("production")
    database = named(manifests, "Cluster")["studio-db"]["spec"]["affinity"]
    assert (
        database["podAntiAffinityType"] == "required" and database["topologyKey"] == "kubernetes.io/hostname"
    )
    broker = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]["affinity"]["podAntiAffinity"]
    [rule] = broker["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"


def test_a_drain_takes_one_member_of_the_broker_at_a_time() -> None:
    """Its operator creates no disruption budget: draining two nodes at once would stop every queue."""
    manifests = overlay("production")
    budget = named(manifests, "PodDisruptionBudget")["studio-broker"]["spec"]
    replicas = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]["replicas"]
    assert budget["maxUnavailable"] <= (replicas - 1) // 2
    assert budget["selector"]["matchLabels"] == {"app.kubernetes.io/name": "studio-broker"}
