"""Finds generated files that are out of date."""

import runpy

from tests.harness.system import ROOT

PROMETHEUS = ROOT / "deploy" / "prometheus"


def stale() -> list[str]:
    made = runpy.run_path(str(PROMETHEUS / "make_rules.py"))
    fresh = made["TARGET"].read_text() == made["prometheus_rules"]()
    return (
        []
        if fresh
        else ["overlays/production/alerts.yaml is stale: run python3 deploy/prometheus/make_rules.py"]
    )
