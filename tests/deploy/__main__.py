"""`python -m tests.deploy`: every manifest against the schemas of Kubernetes and of the operators, no unknown
field allowed; the chart against the overlays, and generated files against what they are made from.
"""

import sys

import kubernetes_validate  # type: ignore[import-untyped]

from tests.deploy import crds
from tests.deploy.chart import chart, differences, schema_problems
from tests.deploy.custom_resource_fields import OPERATOR_API_GROUPS, unknown_fields
from tests.deploy.generated import stale
from tests.deploy.manifests import OVERLAYS, VERSIONS, Manifest, base, overlay


def problems(manifests: list[Manifest]) -> list[str]:
    found = []
    for manifest in manifests:
        name = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if manifest["apiVersion"].startswith(OPERATOR_API_GROUPS):
            found += [f"{name} has a field that is not known: {field}" for field in unknown_fields(manifest)]
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as problem:
                found.append(f"{name} in Kubernetes {version}: {getattr(problem, 'message', problem)}")
    return found


def main() -> int:
    trees = {"base": base()} | {f"overlays/{name}": overlay(name) for name in OVERLAYS}
    bad = [f"{folder}: {problem}" for folder, found in trees.items() for problem in problems(found)]
    if reason := crds.why_not():
        sys.stdout.write(
            f"The operators' kinds were checked against our own list of fields only: {reason}.\n"
        )
    else:
        everything = [manifest for found in trees.values() for manifest in found]
        bad += [f"overlays: {problem}" for problem in crds.problems(everything)]
    for name in OVERLAYS:
        bad += [f"helm: {problem}" for problem in schema_problems(name)]
        bad += [f"helm: {problem}" for problem in differences(chart(name), trees[f"overlays/{name}"])]
    bad += stale()
    for line in bad:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{sum(map(len, trees.values()))} manifests checked, {len(bad)} problems.\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
