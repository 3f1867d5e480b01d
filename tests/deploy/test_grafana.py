"""Checks of Grafana's files without a Grafana: mistakes that it would show as empty panels."""

import json
from itertools import combinations
from typing import Any

import promql_parser
import pytest
import yaml

from tests.deploy.promql import DASHBOARD, queries
from tests.harness.system import ROOT

GRAFANA = ROOT / "deploy" / "grafana"
BOARD: Any = json.loads(DASHBOARD.read_text())
COMPOSE: Any = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
[SOURCE] = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
[PROVIDER] = yaml.safe_load((GRAFANA / "provisioning/dashboards/studio.yml").read_text())["providers"]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]


def test_what_is_provisioned_is_mounted_where_it_says() -> None:
    """With a missing path Grafana would start healthy and empty."""
    mounts = dict(volume.split(":")[:2] for volume in COMPOSE["grafana"]["volumes"] if volume[0] == ".")
    assert mounts["./deploy/grafana/provisioning"] == "/etc/grafana/provisioning"
    assert mounts["./deploy/grafana/dashboards"] == PROVIDER["options"]["path"]
    assert PROVIDER["type"] == "file" and PROVIDER["name"] and BOARD["uid"] and BOARD["title"]


def test_the_datasource_is_the_prometheus_beside_it() -> None:
    """By the name and port under which Grafana reaches it, on a network that both are in."""
    assert SOURCE["url"] == "http://prometheus:9090" and SOURCE["type"] == "prometheus"
    assert set(COMPOSE["prometheus"]["networks"]) & set(COMPOSE["grafana"]["networks"])


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_every_panel_asks_the_datasource_that_exists(panel: Any) -> None:
    """An unknown uid shows 'No data' and no error."""
    wanted = {"type": SOURCE["type"], "uid": SOURCE["uid"]}
    assert panel["datasource"] == wanted and panel["targets"]
    assert [target["datasource"] for target in panel["targets"]] == [wanted] * len(panel["targets"])
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    assert panel["type"] in ("timeseries", "stat", "gauge", "table", "bargauge", "heatmap")


def test_panels_have_ids_of_their_own_and_do_not_cover_one_another() -> None:
    """Twenty-four columns."""
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
    places = [(panel["title"], panel["gridPos"]) for panel in BOARD["panels"]]
    assert all(place["x"] + place["w"] <= 24 for _, place in places)
    for (one, a), (other, b) in combinations(places, 2):
        side_by_side = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        above = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert side_by_side or above, (one, other)


def test_legends_name_labels_that_the_query_keeps() -> None:
    """`{{status}}` over a sum without that label would be empty."""
    for panel in PANELS:
        for target in panel["targets"]:
            names = [
                part.partition("}}")[0].strip() for part in target.get("legendFormat", "").split("{{")[1:]
            ]
            keeps_all = " by (" not in target["expr"]
            assert keeps_all or all(name in target["expr"] for name in names), (panel["title"], names)


def test_every_query_can_be_read() -> None:
    """Panels and alert rules alike; that the metrics exist is tested on the running system."""
    assert len(list(queries())) > 20
    for where, query in queries():
        assert promql_parser.parse(query), where
