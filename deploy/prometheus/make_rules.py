"""Generates the production overlay's PrometheusRules from the two rule files, which the chart reads directly.

Run `python3 deploy/prometheus/make_rules.py` after a change; `make check` fails if you forget.
"""

from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "kubernetes" / "overlays" / "production" / "alerts.yaml"
FILES = {"studio": "alerts.yml", "studio-cluster": "cluster-alerts.yml"}
HEAD = """\
# Made by deploy/prometheus/make_rules.py from {file} beside it. Change that.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {name}
spec:
"""


def prometheus_rules() -> str:
    return "---\n".join(_rule(name, file) for name, file in FILES.items())


def _rule(name: str, file: str) -> str:
    lines = (HERE / file).read_text().splitlines(keepends=True)
    return HEAD.format(name=name, file=file) + "".join(f"  {line}" for line in lines if line[0] != "#")


if __name__ == "__main__":
    TARGET.write_text(prometheus_rules())
