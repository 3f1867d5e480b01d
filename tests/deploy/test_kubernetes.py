"""What the chart renders, as a cluster reads it: valid objects, restricted pods that find a node, rollouts
without a gap, and selectors that select.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from shared.settings import SERVICES
from tests.deploy import custom_resources
from tests.deploy.__main__ import problems
from tests.deploy.chart import (
    DEPLOYMENTS,
    FOREIGN_PODS,
    KUBERNETES,
    VARIANTS,
    Manifest,
    named,
    pod_labels,
    pods,
    read,
    rendered,
)
from tests.deploy.custom_resources import FIELDS, OPERATOR_API_GROUPS
from tests.deploy.network_reachability import selects

# Services whose name differs from that of their pods.
BEHIND_A_NAME = {"studio-broker": "broker", "webhooks": "webhooks-log"}
PORTS = {"http": 8080, "operators": 8081, "postgres": 5432, "rabbitmq": 5672}


@pytest.fixture(params=VARIANTS)
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    return rendered(request.param)


def _foreign() -> list[Manifest]:
    """And those of the restore drill."""
    found = [*rendered(), *read(KUBERNETES / "restore-drill.yaml")]
    return [each for each in found if each["apiVersion"].startswith(OPERATOR_API_GROUPS)]


def _misspelt(manifest: Manifest) -> Manifest:
    return {**manifest, "spec": {**manifest["spec"], "misspelt": 1}}


@pytest.mark.timeout(180)
def test_every_foreign_kind_is_valid_by_its_schema_and_a_misspelt_field_is_not() -> None:
    """The API server silently drops an unknown field, and a backup would never be taken."""
    if reason := custom_resources.INSTALLED.why_not():
        pytest.skip(f"the operators' schemas cannot be had: {reason}")
    foreign = _foreign()
    known = [each for each in foreign if custom_resources.has_schema(each)]
    without = {f"{each['apiVersion']} {each['kind']}" for each in foreign if each not in known}
    assert without == set(FIELDS)
    wrong = [_misspelt(each) | {"metadata": {"name": f"bad-{n}"}} for n, each in enumerate(known)]
    found = custom_resources.schema_problems([*known, *wrong])
    assert [problem for problem in found if "/bad-" not in problem] == []
    for manifest in wrong:
        name = f"{manifest['kind']}/{manifest['metadata']['name']}:"
        assert any(problem.startswith(name) and "misspelt" in problem for problem in found), name


def test_a_misspelt_field_of_any_other_kind_is_found() -> None:
    """By Kubernetes' schemas, or by our list for kinds without one. `make check` looks at every object."""
    without = [each for each in _foreign() if not custom_resources.has_schema(each)]
    for manifest in (named(rendered(), "Deployment")["gateway"], *without):
        assert problems([manifest]) == []
        assert "misspelt" in str(problems([_misspelt(manifest)]))


def test_every_service_can_be_rolled_over() -> None:
    """A budget, probes, a drain that fits into the grace period, and resources said."""
    manifests = rendered()
    deployments, budgets = named(manifests, "Deployment"), named(manifests, "PodDisruptionBudget")
    assert set(deployments) == set(DEPLOYMENTS) == set(budgets) - {"studio-broker"}
    assert set(named(manifests, "Service")) >= set(SERVICES)
    settings = named(manifests, "ConfigMap")["studio-settings"]["data"]
    for deployment in deployments.values():
        assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
        pod = deployment["spec"]["template"]["spec"]
        [container] = pod["containers"]
        before = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
        drain = float(settings["STUDIO_DRAIN_SECONDS"])
        assert before + 2 * 15 + drain + 10 <= pod["terminationGracePeriodSeconds"]
        assert container["livenessProbe"]["httpGet"]["path"] == "/health/live"
        # It answers while it waits for the schema (test_starting.py): no probe needs minutes.
        startup = container["startupProbe"]
        assert startup["httpGet"]["path"] == "/health/live"
        assert startup["periodSeconds"] * startup["failureThreshold"] <= 60
        assert container["readinessProbe"]["httpGet"]["path"] == "/health/ready"
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}


def test_every_deployment_serves_its_own_part(manifests: list[Manifest]) -> None:
    """Two deployments of one program, each with one role, so that each scales on its own."""
    args = {name: pods(manifests)[name]["containers"][0]["args"] for name in DEPLOYMENTS}
    assert args.pop("webhooks-log") == ["serve", "webhooks", "--only", "log"]
    assert args.pop("webhooks-dispatch") == ["serve", "webhooks", "--only", "dispatch"]
    assert args == {name: ["serve", name] for name in SERVICES if name != "webhooks"}


def test_every_selector_selects_exactly_its_own_pods(manifests: list[Manifest]) -> None:
    """The API server accepts a selector that selects nothing, without a warning."""
    labels = pod_labels(manifests)
    for kind in ("Deployment", "StatefulSet", "Service", "PodDisruptionBudget"):
        for name, found in named(manifests, kind).items():
            selector = found["spec"]["selector"]
            selector = {"matchLabels": selector} if kind == "Service" else selector
            chosen = [pod for pod, mine in {**labels, **FOREIGN_PODS}.items() if selects(selector, mine)]
            assert chosen == [BEHIND_A_NAME.get(name, name.removesuffix("-operators"))], (kind, name)


def test_every_service_leads_to_a_port_and_every_probe_too(manifests: list[Manifest]) -> None:
    """Ports are named; a name that no container has would reach nothing."""
    for name, service in named(manifests, "Service").items():
        if name == "database":  # its pods are the operator's
            assert [port["targetPort"] for port in service["spec"]["ports"]] == [PORTS["postgres"]]
            continue
        [container] = pods(manifests)[BEHIND_A_NAME.get(name, name.removesuffix("-operators"))]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for port in service["spec"]["ports"]:
            assert ports[port["targetPort"]] == PORTS[port["targetPort"]]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if "httpGet" in container.get(probe, {}):
                assert container[probe]["httpGet"]["port"] in ports


def test_spreading_counts_only_nodes_and_replicas_that_matter(manifests: list[Manifest]) -> None:
    """If tainted nodes and old replicas counted, new replicas would find no node. With a hard rule, one node
    full of other work would keep all other nodes at one replica.
    """
    for name in DEPLOYMENTS:
        constraints = pods(manifests)[name]["topologySpreadConstraints"]
        keys = [constraint["topologyKey"] for constraint in constraints]
        assert keys == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"], name
        for constraint in constraints:
            assert selects(constraint["labelSelector"], pod_labels(manifests)[name])
            assert constraint["nodeTaintsPolicy"] == "Honor", name
            assert constraint["matchLabelKeys"] == ["pod-template-hash"], name
            assert constraint["whenUnsatisfiable"] == "ScheduleAnyway", name


def test_database_and_broker_never_have_two_members_on_one_node() -> None:
    """They hold the data: losing two of three loses the majority, so a member waits instead, and a drain
    takes one member of the broker at a time. Its operator creates no disruption budget.
    """
    manifests = rendered()
    database = named(manifests, "Cluster")["studio-db"]["spec"]["affinity"]
    assert database["podAntiAffinityType"] == "required"
    assert database["topologyKey"] == "kubernetes.io/hostname"
    broker = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]
    [rule] = broker["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    budget = named(manifests, "PodDisruptionBudget")["studio-broker"]["spec"]
    assert budget["maxUnavailable"] <= (broker["replicas"] - 1) // 2
    assert budget["selector"]["matchLabels"] == {"app.kubernetes.io/name": "studio-broker"}


def _violations(pod: Any) -> Iterator[str]:
    """What the pod security level `restricted` asks of a pod, as far as our pods can fail it."""
    context = pod.get("securityContext", {})
    if context.get("runAsUser") == 0:
        yield "the pod runs as root"
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        own = context | container.get("securityContext", {})
        name = container["name"]
        if own.get("runAsNonRoot") is not True or own.get("runAsUser") == 0:
            yield f"{name} may run as root"
        if own.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{name} has no seccomp profile"
        if own.get("allowPrivilegeEscalation") is not False:
            yield f"{name} may gain privileges"
        capabilities = own.get("capabilities", {})
        added = set(capabilities.get("add", ())) - {"NET_BIND_SERVICE"}
        if "ALL" not in capabilities.get("drop", ()) or added:
            yield f"{name} has capabilities"


def test_every_pod_is_restricted_and_ours_cannot_write(manifests: list[Manifest]) -> None:
    """The namespace enforces it; this test finds it before anything is applied."""
    for name, pod in pods(manifests).items():
        assert list(_violations(pod)) == [] and pod["automountServiceAccountToken"] is False, name
        if name in (*DEPLOYMENTS, "migrate"):
            assert all(each["securityContext"]["readOnlyRootFilesystem"] for each in pod["containers"])


def test_the_brokers_pods_are_restricted_whatever_the_operator_sets() -> None:
    """Operators before 2.17 set none of it. The override is merged into their pod by container name, and a
    misspelt one would become a second container (internal/resource/statefulset.go).
    """
    cluster = named(rendered(), "RabbitmqCluster")["studio-broker"]["spec"]
    override = cluster["override"]["statefulSet"]["spec"]["template"]["spec"]
    assert list(_violations(override)) == []
    assert [one["name"] for one in override["initContainers"]] == ["setup-container"]
    assert [one["name"] for one in override["containers"]] == ["rabbitmq"]
    del override["containers"][0]["securityContext"]
    assert len(list(_violations(override))) == 2, "the check can fail"
