"""`python -m tests.deploy`: every manifest against the schemas of Kubernetes, no unknown field allowed."""

import sys

import kubernetes_validate  # type: ignore[import-untyped]

from tests.deploy.manifests import OVERLAYS, VERSIONS, Manifest, base, built, kustomize

# Other people's kinds: there is no schema of theirs here. The tests know which fields we use of them.
FOREIGN = ("postgresql.cnpg.io/", "rabbitmq.com/", "keda.sh/")


def problems(manifests: list[Manifest]) -> list[str]:
    found = []
    for manifest in manifests:
        if manifest["apiVersion"].startswith(FOREIGN):
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as problem:
                name = f"{manifest['kind']}/{manifest['metadata']['name']}"
                found.append(f"{name} in Kubernetes {version}: {getattr(problem, 'message', problem)}")
    return found


def main() -> int:
    trees = {"base": base()}
    if kustomize() is None:
        sys.stdout.write("The overlays are not checked: neither kustomize nor kubectl is here.\n")
    else:
        trees |= {f"overlays/{name}": built(f"overlays/{name}") for name in OVERLAYS}
    bad = [f"{folder}: {problem}" for folder, found in trees.items() for problem in problems(found)]
    for line in bad:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{sum(map(len, trees.values()))} manifests checked, {len(bad)} problems.\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
