"""An operator makes the broker's pods. With our override they pass the namespace's pod security level."""

import copy
from typing import Any

import pytest

from tests.deploy.chart import chart
from tests.deploy.kustomizing import merged
from tests.deploy.manifests import named, overlay
from tests.deploy.pod_security import violations

# The pod of an operator before 2.17, as far as `restricted` reads it (internal/resource/statefulset.go).
OPERATORS_POD: Any = {
    "securityContext": {"runAsUser": 999, "fsGroup": 0},
    "initContainers": [{"name": "setup-container", "image": "rabbitmq"}],
    "containers": [{"name": "rabbitmq", "image": "rabbitmq"}],
}


@pytest.fixture(params=["overlay", "chart"])
def override(request: pytest.FixtureRequest) -> Any:
    manifests = overlay("production") if request.param == "overlay" else chart("production")
    cluster = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]
    return copy.deepcopy(cluster["override"]["statefulSet"]["spec"]["template"]["spec"])


def test_the_brokers_pods_are_restricted_whatever_the_operator_sets(override: Any) -> None:
    """The operator merges the override by container name; the pod keeps its user and its containers."""
    pod = merged(OPERATORS_POD, override)
    assert violations(pod) == []
    assert pod["securityContext"]["runAsUser"] == 999
    for kind in ("initContainers", "containers"):
        assert [one["name"] for one in pod[kind]] == [one["name"] for one in OPERATORS_POD[kind]]


def test_the_operators_own_pod_would_be_refused() -> None:
    """The check can fail, and names all that is missing."""
    assert len(violations(OPERATORS_POD)) == 8


@pytest.mark.parametrize("kind", ["initContainers", "containers"])
def test_a_misspelt_container_is_found(override: Any, kind: str) -> None:
    """It would become a second container without an image."""
    override[kind][0]["name"] = "broker"
    assert violations(merged(OPERATORS_POD, override)) != []
