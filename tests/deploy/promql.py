"""The metrics that the dashboard and the alert rules query."""

import json
from collections.abc import Iterator
from typing import Any

import promql_parser
import yaml

from tests.harness.system import ROOT

DASHBOARD = ROOT / "deploy" / "grafana" / "dashboards" / "studio.json"


def alerts(file: str = "alerts.yml") -> list[dict[str, Any]]:
    groups = yaml.safe_load((ROOT / "deploy" / "prometheus" / file).read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def queries() -> Iterator[tuple[str, str]]:
    """Every query and where it is."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield f"panel {panel['title']}", target["expr"].replace("$__rate_interval", "5m")
    for rule in alerts():
        yield f"alert {rule['alert']}", rule["expr"]


def metrics_in(expression: str) -> dict[str, set[str]]:
    """The metrics that a query names, each with the labels that it selects by."""
    found: dict[str, set[str]] = {}

    def look(node: Any) -> None:
        if isinstance(node, promql_parser.VectorSelector):
            labels = {matcher.name for matcher in node.matchers.matchers}
            found.setdefault(str(node.name), set()).update(labels)
        for name in ("lhs", "rhs", "expr", "args", "param", "vector_selector"):
            child = getattr(node, name, None)
            for one in child if isinstance(child, list) else [child]:
                if isinstance(one, promql_parser.Expr):
                    look(one)

    look(promql_parser.parse(expression))
    return found
