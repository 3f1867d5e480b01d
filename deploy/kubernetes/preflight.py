"""`python3 deploy/kubernetes/preflight.py`: does the cluster have what production needs, new enough?

Reads with kubectl and changes nothing. Exits with 1 if something is missing or too old. The same minimum
versions are in docs/operating/install.md; a test compares them.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

Version = tuple[int, ...]
# The image to look for in deployments (a pattern), the minimum version, and the feature that needs it.
# RabbitMQ's operators moved from rabbitmqoperator/ on Docker Hub to rabbitmq/ on ghcr.io.
OPERATORS: dict[str, tuple[str, str, str]] = {
    "CloudNativePG": ("cloudnative-pg/cloudnative-pg", "1.27", "backups by plugin"),
    "Barman Cloud plugin": ("cloudnative-pg/plugin-barman-cloud", "0.6", "ObjectStore with a retention"),
    "RabbitMQ cluster operator": ("rabbitmq(operator)?/cluster-operator", "2.12", "RabbitMQ 4"),
    "RabbitMQ topology operator": (
        "rabbitmq(operator)?/messaging-topology-operator",
        "1.15",
        "a broker user per service",
    ),
    "KEDA": ("kedacore/keda", "2.17", "how a fallback behaves"),
    "Prometheus operator": ("prometheus-operator/prometheus-operator", "0.75", "PodMonitor, PrometheusRule"),
    "cert-manager": ("jetstack/cert-manager-controller", "1.15", "certificates for Gateway API"),
}
KUBERNETES = "1.31"
GATEWAY_API = "1.2"
BUNDLE = "gateway.networking.k8s.io/bundle-version"


def version(text: str) -> Version:
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in found.groups()) if found else ()


def kubectl(*words: str) -> Any:
    done = subprocess.run(["kubectl", *words, "-o", "json"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"kubectl {' '.join(words)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def problems() -> Iterator[str]:
    server = kubectl("version")["serverVersion"]["gitVersion"]
    yield from judged("Kubernetes", server, KUBERNETES, "spread constraints by replica set")
    images = [
        container["image"]
        for deployment in kubectl("get", "deployments", "--all-namespaces")["items"]
        for container in deployment["spec"]["template"]["spec"]["containers"]
    ]
    for name, (repository, least, why) in OPERATORS.items():
        tags = [tag_of(image) for image in images if re.search(f"{repository}$", repository_of(image))]
        yield from judged(name, max(tags, key=version, default=None), least, why)
    crds = kubectl("get", "customresourcedefinitions", "--ignore-not-found")["items"]
    bundles = [
        crd["metadata"].get("annotations", {}).get(BUNDLE)
        for crd in crds
        if crd["metadata"]["name"] == "httproutes.gateway.networking.k8s.io"
    ]
    yield from judged("Gateway API", next(iter(bundles), None), GATEWAY_API, "time-outs of routes")


def judged(name: str, found: str | None, least: str, why: str) -> Iterator[str]:
    if found is None:
        yield f"{name} is not in the cluster; {least} or newer is needed ({why})."
    elif not version(found):
        sys.stdout.write(f"{name}: its version cannot be read from {found!r}; {least} or newer is needed.\n")
    elif version(found) < version(least):
        yield f"{name} {found} is too old; {least} or newer is needed ({why})."
    else:
        sys.stdout.write(f"{name} {found}\n")


def repository_of(image: str) -> str:
    return re.sub(r"(:[^/:]*)?(@.*)?$", "", image)


def tag_of(image: str) -> str:
    """Empty if the image has only a digest."""
    return image.removeprefix(repository_of(image)).partition("@")[0].removeprefix(":")


if __name__ == "__main__":
    found = list(problems())
    sys.stdout.writelines(f"{problem}\n" for problem in found)
    sys.exit(1 if found else 0)
