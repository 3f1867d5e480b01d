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

    def look(node: Any) -> bool:
        if isinstance(node, promql_parser.MatrixSelector):
            node = node.vector_selector
        if isinstance(node, promql_parser.VectorSelector):
            labels = {matcher.name for matcher in node.matchers.matchers}
            found.setdefault(str(node.name), set()).update(labels)
        return True

    _walk(promql_parser.parse(expression), look)
    return found


def uncounted(expression: str) -> list[str]:
    """Counts that are asked to be small, and have no value when there is nothing to count."""
    found: list[str] = []

    def look(node: Any) -> bool:
        if isinstance(node, promql_parser.BinaryExpr) and str(node.op) in ("<", "<=", ">", ">="):
            small = node.lhs if str(node.op).startswith("<") else node.rhs
            while isinstance(small, promql_parser.ParenExpr):
                small = small.expr
            if isinstance(small, promql_parser.AggregateExpr) and str(small.op) == "count":
                found.append(str(small))
        return True

    _walk(promql_parser.parse(expression), look)
    return found


def _walk(node: Any, look: Any) -> None:
    look(node)
    for name in ("lhs", "rhs", "expr", "args", "param", "vector_selector"):
        child = getattr(node, name, None)
        for one in child if isinstance(child, list) else [child]:
            if one is not None and isinstance(one, promql_parser.Expr):
                _walk(one, look)
