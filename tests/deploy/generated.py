"""Finds generated files that are out of date."""

import runpy

import msgspec

from shared.events.bus.topology import PERMISSIONS
from tests.deploy.chart import values
from tests.harness.system import ROOT

PROMETHEUS = ROOT / "deploy" / "prometheus"


def stale() -> list[str]:
    made = runpy.run_path(str(PROMETHEUS / "make_rules.py"))
    found = []
    if made["TARGET"].read_text() != made["prometheus_rules"]():
        found.append("overlays/production/alerts.yaml is stale: run python3 deploy/prometheus/make_rules.py")
    return found + stale_broker_users()


def stale_broker_users() -> list[str]:
    """The files that differ from the table of permissions, and the chart's values if they do."""
    script = "deploy/kubernetes/make_broker_users.py"
    files = runpy.run_path(str(ROOT / script))["files"]()
    found = [
        f"{path.relative_to(ROOT)} is stale: run .venv/bin/python {script}"
        for path, text in files.items()
        if not path.exists() or path.read_text() != text
    ]
    if values("production")["broker"]["permissions"] != msgspec.to_builtins(PERMISSIONS):
        found.append("broker.permissions of deploy/helm/values.yaml is not shared/events/bus/topology.py")
    return found
