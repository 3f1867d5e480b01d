"""`python -m tests.deploy`: every manifest against the schemas of Kubernetes, no unknown field allowed."""

import sys

import kubernetes_validate  # type: ignore[import-untyped]

from tests.deploy.foreign import unknown_fields
from tests.deploy.manifests import OVERLAYS, VERSIONS, Manifest, base, overlay

# Other people's kinds: there is no schema of theirs here.
FOREIGN = ("postgresql.cnpg.io/", "rabbitmq.com/", "keda.sh/", "monitoring.coreos.com/")


def problems(manifests: list[Manifest]) -> list[str]:
    found = []
    for manifest in manifests:
        name = f"{manifest['kind']}/{manifest['metadata']['name']}"
        if manifest["apiVersion"].startswith(FOREIGN):
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
    for line in bad:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{sum(map(len, trees.values()))} manifests checked, {len(bad)} problems.\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
