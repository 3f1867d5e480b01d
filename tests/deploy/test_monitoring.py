"""What Prometheus scrapes exists and is reachable, every alert can be acted on, and Grafana's files have none
of the mistakes that it would show as empty panels.
"""

import json
import re
from typing import Any

import promql_parser
import pytest
import yaml

from tests.deploy.chart import DEPLOYMENTS, FOREIGN_PODS, Manifest, named, pod_labels, pods, rendered
from tests.deploy.network_reachability import selects
from tests.deploy.promql import DASHBOARD, alerts, metrics_in
from tests.harness.system import ROOT

RUNBOOK = "docs/operating/runbook.md"
GRAFANA = ROOT / "deploy" / "grafana"
BOARD: Any = json.loads(DASHBOARD.read_text())
COMPOSE: Any = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
[SOURCE] = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
[PROVIDER] = yaml.safe_load((GRAFANA / "provisioning/dashboards/studio.yml").read_text())["providers"]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
# Ports that the operators give to their containers, by name.
FOREIGN_PORTS = {"studio-database": ("database", "metrics"), "studio-broker": ("broker", "prometheus")}
OTHERS_METRICS = ("kubelet_", "cnpg_", "barman_cloud_", "rabbitmq_")

OF_THE_CLUSTER = alerts("cluster-alerts.yml")
ALERTS = [*alerts(), *OF_THE_CLUSTER]


@pytest.fixture
def manifests() -> list[Manifest]:
    return rendered()


def test_every_service_is_scraped_where_it_shows_its_metrics(manifests: list[Manifest]) -> None:
    """Once each, by a port that the pod has, under the job name of the alerts.

    Those are the ports that the policies open (test_network.py).
    """
    labels = pod_labels(manifests)
    scraped = []
    for monitor in named(manifests, "PodMonitor").values():
        for service in DEPLOYMENTS:
            if not selects(monitor["spec"]["selector"], labels[service]):
                continue
            [endpoint] = monitor["spec"]["podMetricsEndpoints"]
            [container] = pods(manifests)[service]["containers"]
            [port] = [p["containerPort"] for p in container["ports"] if p["name"] == endpoint["port"]]
            rules = {rule["targetLabel"]: rule for rule in endpoint["relabelings"]}
            assert rules["job"]["replacement"] == "studio" and "service_name" in rules
            scraped.append((service, port))
    assert sorted(scraped) == sorted((s, 8081 if s == "gateway" else 8080) for s in DEPLOYMENTS)


@pytest.mark.parametrize("name", FOREIGN_PORTS)
def test_database_and_broker_are_scraped_on_the_operators_ports(manifests: list[Manifest], name: str) -> None:
    """The policies open their numbers (test_network.py)."""
    pod, port = FOREIGN_PORTS[name]
    monitor = named(manifests, "PodMonitor")[name]["spec"]
    assert selects(monitor["selector"], FOREIGN_PODS[pod])
    [endpoint] = monitor["podMetricsEndpoints"]
    assert endpoint["port"] == port
    assert endpoint["relabelings"] == [{"targetLabel": "job", "replacement": name}]


def test_the_cluster_has_the_alerts_of_compose_and_those_of_its_operators(manifests: list[Manifest]) -> None:
    """From the same files."""
    rules = named(manifests, "PrometheusRule")
    found = [rule for each in rules.values() for group in each["spec"]["groups"] for rule in group["rules"]]
    assert found == ALERTS


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_every_alert_leads_to_a_paragraph_that_ends_in_a_command(rule: Any) -> None:
    """The alert has a summary, and its link leads to an explanation and the first command."""
    name = rule["alert"]
    assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("page", "ticket", "info")
    found = re.search(
        rf"^### ([^\n]*\b{name}\b[^\n]*)\n(.*?)(?=^#|\Z)", (ROOT / RUNBOOK).read_text(), re.S | re.M
    )
    assert found, f"{RUNBOOK} does not explain {name}"
    anchor = re.sub(r"[^\w -]", "", found[1].lower()).replace(" ", "-")
    assert rule["annotations"]["runbook_url"] == f"{RUNBOOK}#{anchor}"
    command = re.search(
        r"```sh\n((?:studioctl|kubectl|psql) [^\n]+)\n```\s*(?:The following[^`]*)?\Z", found[2]
    )
    assert command, f"The paragraph of {name} does not end in a command"


def test_the_clusters_alerts_ask_only_what_operators_export() -> None:
    """Every query parses and uses none of our metrics, which are tested on the running system."""
    for rule in OF_THE_CLUSTER:
        assert promql_parser.parse(rule["expr"])
        assert all(name.startswith(OTHERS_METRICS) for name in metrics_in(rule["expr"])), rule["alert"]


def test_the_clusters_alerts_see_our_own_database_and_broker(manifests: list[Manifest]) -> None:
    """Another cluster of the same operator would hide a missing member of ours, or raise our alert."""
    jobs = {"cnpg_": "studio-database", "barman_": "studio-database", "rabbitmq_": "studio-broker"}
    for expression in (rule["expr"] for rule in OF_THE_CLUSTER):
        for prefix, job in jobs.items():
            if metrics := [name for name in metrics_in(expression) if name.startswith(prefix)]:
                assert f'{metrics[0]}{{job="{job}"}}' in expression
                assert job in named(manifests, "PodMonitor"), "its relabeling sets the job"


def test_a_service_member_or_backup_that_reports_nothing_is_noticed() -> None:
    """A comparison with a series that does not exist is never true, so it would raise no alert. `count` of no
    series is no value either, and so not below three.
    """
    expressions = {rule["alert"]: rule["expr"] for rule in ALERTS}
    for name, expression in expressions.items():
        counted = re.sub(r"\(count\(.*?\) or vector\(0\)\)", "", expression)
        assert not re.search(r"\bcount\b", counted), name
    for service in DEPLOYMENTS:
        assert f'absent(up{{job="studio",service_name="{service}"}})' in expressions["StudioServiceMissing"]
    [reported] = metrics_in(expressions["StudioBackupOld"])
    assert expressions["StudioBackupUnknown"] == f'absent({reported}{{job="studio-database"}})'


def test_disks_backups_and_members_are_watched() -> None:
    """Each volume that can fill, each archive that can stop."""
    text = " ".join(rule["expr"] for rule in OF_THE_CLUSTER)
    for volume in ("studio-db-", "persistence-studio-broker-"):
        assert volume in text
    for metric in ("last_archival", "last_available_backup", "disk_space_available", "replication_lag"):
        assert metric in text


def test_partners_come_in_by_tls_alone_and_only_to_the_partner_port(manifests: list[Manifest]) -> None:
    """Plain HTTP is redirected to HTTPS; the operators' port has no route from outside."""
    [gateway] = named(manifests, "Gateway").values()
    listeners = {listener["name"]: listener for listener in gateway["spec"]["listeners"]}
    assert listeners["https"]["tls"]["certificateRefs"] and listeners["https"]["protocol"] == "HTTPS"
    routes = named(manifests, "HTTPRoute")
    for route in routes.values():
        [parent] = route["spec"]["parentRefs"]
        backends = [each for rule in route["spec"]["rules"] for each in rule.get("backendRefs", ())]
        if parent["sectionName"] == "http":
            assert not backends
        else:
            assert backends == [{"name": "gateway", "port": 80}]
    service = named(manifests, "Service")["gateway"]["spec"]
    assert service["ports"] == [{"name": "http", "port": 80, "targetPort": "http"}]


def test_what_is_provisioned_is_mounted_where_it_says() -> None:
    """With a missing path Grafana would start healthy and empty."""
    mounts = dict(volume.split(":")[:2] for volume in COMPOSE["grafana"]["volumes"] if volume[0] == ".")
    assert mounts["./deploy/grafana/provisioning"] == "/etc/grafana/provisioning"
    assert mounts["./deploy/grafana/dashboards"] == PROVIDER["options"]["path"]
    assert PROVIDER["type"] == "file" and PROVIDER["name"] and BOARD["uid"] and BOARD["title"]
    # The datasource is the Prometheus beside it, on a network that both are in.
    assert SOURCE["url"] == "http://prometheus:9090" and SOURCE["type"] == "prometheus"
    assert set(COMPOSE["prometheus"]["networks"]) & set(COMPOSE["grafana"]["networks"])


def test_every_panel_asks_the_datasource_that_exists() -> None:
    """An unknown uid shows 'No data' and no error."""
    wanted = {"type": SOURCE["type"], "uid": SOURCE["uid"]}
    for panel in PANELS:
        assert panel["datasource"] == wanted and panel["targets"], panel["title"]
        assert all(target["datasource"] == wanted for target in panel["targets"]), panel["title"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]), panel["title"]
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])


def test_legends_name_labels_that_the_query_keeps() -> None:
    """`{{status}}` over a sum without that label would be empty."""
    for panel in PANELS:
        for target in panel["targets"]:
            names = [
                part.partition("}}")[0].strip() for part in target.get("legendFormat", "").split("{{")[1:]
            ]
            keeps_all = " by (" not in target["expr"]
            assert keeps_all or all(name in target["expr"] for name in names), (panel["title"], names)
