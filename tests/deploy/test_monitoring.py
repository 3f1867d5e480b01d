"""What Prometheus scrapes exists and is reachable, and every alert can be acted on."""

import re
from typing import Any

import promql_parser
import pytest
import yaml

from tests.deploy.generated import PROMETHEUS, stale
from tests.deploy.manifests import DEPLOYMENTS, named, overlay
from tests.deploy.network_reachability import reached_from, selects
from tests.deploy.promql import metrics_in, uncounted
from tests.deploy.test_cluster import FOREIGN_PODS, pod_labels
from tests.harness.system import ROOT

MANIFESTS = overlay("production")
OPERATING = (ROOT / "docs" / "operating.md").read_text()
# Ports that the operators give to their containers, by name.
FOREIGN_PORTS = {
    "studio-database": ("database", "metrics", 9187),
    "studio-broker": ("broker", "prometheus", 15692),
}
OTHERS_METRICS = ("kubelet_", "cnpg_", "barman_cloud_", "rabbitmq_")


def _alerts(name: str) -> list[Any]:
    groups = yaml.safe_load((PROMETHEUS / name).read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


ALERTS = [*_alerts("alerts.yml"), *_alerts("cluster-alerts.yml")]


def test_every_service_is_scraped_where_it_shows_its_metrics() -> None:
    """Once each, by a port that the pod has and the policies open, under the job name of the alerts."""
    policies = list(named(MANIFESTS, "NetworkPolicy").values())
    labels = pod_labels(MANIFESTS)
    scraped = []
    for monitor in named(MANIFESTS, "PodMonitor").values():
        for service in DEPLOYMENTS:
            if not selects(monitor["spec"]["selector"], labels[service]):
                continue
            [endpoint] = monitor["spec"]["podMetricsEndpoints"]
            [container] = named(MANIFESTS, "Deployment")[service]["spec"]["template"]["spec"]["containers"]
            [port] = [p["containerPort"] for p in container["ports"] if p["name"] == endpoint["port"]]
            assert reached_from(policies, {"studio/monitoring": "true"}, labels[service], port), service
            rules = {rule["targetLabel"]: rule for rule in endpoint["relabelings"]}
            assert rules["job"]["replacement"] == "studio" and "service_name" in rules
            scraped.append((service, port))
    assert sorted(scraped) == sorted((s, 8081 if s == "gateway" else 8080) for s in DEPLOYMENTS)


@pytest.mark.parametrize("name", FOREIGN_PORTS)
def test_database_and_broker_are_scraped_on_their_operators_ports(name: str) -> None:
    """If a policy forgets the port, the target is always down."""
    pod, port, number = FOREIGN_PORTS[name]
    monitor = named(MANIFESTS, "PodMonitor")[name]["spec"]
    assert selects(monitor["selector"], FOREIGN_PODS[pod])
    [endpoint] = monitor["podMetricsEndpoints"]
    assert endpoint["port"] == port
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": name}]
    policies = list(named(MANIFESTS, "NetworkPolicy").values())
    assert reached_from(policies, {"studio/monitoring": "true"}, FOREIGN_PODS[pod], number)


def test_the_cluster_has_the_alerts_that_compose_has_and_those_of_its_operators() -> None:
    """Generated from the same files; `make check` fails if they are stale."""
    rules = named(MANIFESTS, "PrometheusRule")
    found = [rule for each in rules.values() for group in each["spec"]["groups"] for rule in group["rules"]]
    assert found == ALERTS
    assert stale() == []


def test_a_rule_file_that_was_not_made_anew_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The check can fail."""
    for name in ("make_rules.py", "alerts.yml", "cluster-alerts.yml"):
        (tmp_path / "prometheus").mkdir(exist_ok=True)
        (tmp_path / "prometheus" / name).write_text((PROMETHEUS / name).read_text())
    made = tmp_path / "kubernetes" / "overlays" / "production" / "alerts.yaml"
    made.parent.mkdir(parents=True)
    made.write_text((ROOT / "deploy/kubernetes/overlays/production/alerts.yaml").read_text())
    monkeypatch.setattr("tests.deploy.generated.PROMETHEUS", tmp_path / "prometheus")
    assert stale() == []
    (tmp_path / "prometheus" / "alerts.yml").write_text("groups: []\n")
    assert len(stale()) == 1


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_leads_to_a_paragraph_that_ends_in_a_command(rule: Any) -> None:
    """The alert has a summary, and its link leads to an explanation and the first command."""
    name = rule["alert"]
    assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("page", "ticket", "info")
    found = re.search(rf"^### ([^\n]*\b{name}\b[^\n]*)\n(.*?)(?=^#|\Z)", OPERATING, re.DOTALL | re.MULTILINE)
    assert found, f"docs/operating.md does not explain {name}"
    anchor = re.sub(r"[^\w -]", "", found[1].lower()).replace(" ", "-")
    assert rule["annotations"]["runbook_url"] == f"docs/operating.md#{anchor}"
    command = re.search(
        r"```sh\n((?:studioctl|kubectl|psql) [^\n]+)\n```\s*(?:The following[^`]*)?\Z", found[2]
    )
    assert command, f"The paragraph of {name} does not end in a command"


def test_the_clusters_alerts_ask_only_what_operators_export() -> None:
    """Every query parses and uses none of our metrics, which are tested on the running system."""
    for rule in _alerts("cluster-alerts.yml"):
        assert promql_parser.parse(rule["expr"])
        assert all(name.startswith(OTHERS_METRICS) for name in metrics_in(rule["expr"])), rule["alert"]


@pytest.mark.parametrize("rule", _alerts("cluster-alerts.yml"), ids=lambda rule: rule["alert"])
def test_the_clusters_alerts_look_at_our_own_database_and_broker(rule: Any) -> None:
    """Another cluster of the same operator would hide a missing member of ours, or raise our alert."""
    jobs = {"cnpg_": "studio-database", "barman_": "studio-database", "rabbitmq_": "studio-broker"}
    for prefix, job in jobs.items():
        if metrics := [name for name in metrics_in(rule["expr"]) if name.startswith(prefix)]:
            assert f'{metrics[0]}{{job="{job}"}}' in rule["expr"]
            assert job in named(MANIFESTS, "PodMonitor"), "its relabeling sets the job"


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_a_count_that_falls_to_nothing_is_zero(rule: Any) -> None:
    """`count` of no series is no value, and so not below three: with all gone the alert would be silent."""
    assert uncounted(rule["expr"]) == []


def test_a_count_without_a_zero_is_found() -> None:
    """The check can fail, whichever way the comparison is written."""
    assert uncounted("count(up == 1) < 3") and uncounted("3 > count(up)")
    assert not uncounted("(count(up) or vector(0)) < 3") and not uncounted("count(up) > 3")


def test_a_service_or_backup_that_reports_nothing_is_noticed() -> None:
    """A comparison with a series that does not exist is never true, so it would raise no alert."""
    expressions = {rule["alert"]: rule["expr"] for rule in ALERTS}
    for service in DEPLOYMENTS:
        assert f'absent(up{{job="studio",service_name="{service}"}})' in expressions["StudioServiceMissing"]
    [reported] = metrics_in(expressions["StudioBackupOld"])
    assert expressions["StudioBackupUnknown"] == f'absent({reported}{{job="studio-database"}})'


def test_disks_backups_and_members_are_watched() -> None:
    """Each volume that can fill, each archive that can stop."""
    text = " ".join(rule["expr"] for rule in _alerts("cluster-alerts.yml"))
    for volume in ("studio-db-", "persistence-studio-broker-"):
        assert volume in text
    for metric in ("last_archival", "last_available_backup", "disk_space_available", "replication_lag"):
        assert metric in text


def test_partners_come_in_by_tls_alone_and_only_to_the_partner_port() -> None:
    """Plain HTTP is redirected to HTTPS; the operators' port has no route from outside."""
    [gateway] = named(MANIFESTS, "Gateway").values()
    listeners = {listener["name"]: listener for listener in gateway["spec"]["listeners"]}
    assert listeners["https"]["tls"]["certificateRefs"] and listeners["https"]["protocol"] == "HTTPS"
    routes = named(MANIFESTS, "HTTPRoute")
    for route in routes.values():
        [parent] = route["spec"]["parentRefs"]
        backends = [each for rule in route["spec"]["rules"] for each in rule.get("backendRefs", ())]
        if parent["sectionName"] == "http":
            assert not backends
        else:
            assert backends == [{"name": "gateway", "port": 80}]
    service = named(MANIFESTS, "Service")["gateway"]["spec"]
    assert service["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]
