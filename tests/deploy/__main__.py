"""`python -m tests.deploy`: every object of the chart against the schemas of Kubernetes and of the operators,
no unknown field allowed, and the chart's broker users against their table. `--write` writes those users anew.
"""

import json
import sys

import kubernetes_validate  # type: ignore[import-untyped]
import msgspec

from shared.events.bus.topology import PERMISSIONS
from tests.deploy import custom_resources
from tests.deploy.chart import CHART, NO_HELM, SCHEMA, VARIANTS, Manifest, helm, rendered, values
from tests.deploy.custom_resources import OPERATOR_API_GROUPS, unknown_fields

# From the oldest supported release to the newest one that the schemas know.
KUBERNETES_VERSIONS = ("1.31", "1.37")
BROKER_USERS = CHART / "files" / "broker-permissions.json"


def problems(manifests: list[Manifest]) -> list[str]:
    found = []
    for manifest in manifests:
        name = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if manifest["apiVersion"].startswith(OPERATOR_API_GROUPS):
            found += [f"{name} has a field that is not known: {field}" for field in unknown_fields(manifest)]
            continue
        for version in KUBERNETES_VERSIONS:
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as problem:
                found.append(f"{name} in Kubernetes {version}: {getattr(problem, 'message', problem)}")
    return found


def broker_users() -> str:
    """What the chart's file has to be: the topology operator or the single broker creates these."""
    return json.dumps(msgspec.to_builtins(PERMISSIONS), indent=2) + "\n"


def main() -> int:
    if "--write" in sys.argv:
        BROKER_USERS.write_text(broker_users())
    bad = [
        f"values for {name}: {found.json_path} {found.message}"
        for name in VARIANTS
        for found in SCHEMA.iter_errors(values(name))
    ]
    if BROKER_USERS.read_text() != broker_users():
        bad.append(f"{BROKER_USERS.name} is stale: run .venv/bin/python -m tests.deploy --write")
    manifests = [manifest for name in VARIANTS for manifest in rendered(name)] if helm() else []
    bad += problems(manifests)
    if not manifests:
        sys.stdout.write(f"{NO_HELM}\n")
    elif reason := custom_resources.INSTALLED.why_not():
        sys.stdout.write(f"Most of the operators' kinds were not checked: {reason}.\n")
    else:
        bad += custom_resources.schema_problems(manifests)
    for line in bad:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{len(manifests)} objects checked, {len(bad)} problems.\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
