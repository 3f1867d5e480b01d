"""What the pod security level `restricted` asks of a pod, as far as our pods can fail it."""

from collections.abc import Iterator
from typing import Any


def violations(pod: Any) -> list[str]:
    return list(_violations(pod))


def _violations(pod: Any) -> Iterator[str]:
    context = pod.get("securityContext", {})
    if context.get("runAsUser") == 0:
        yield "the pod runs as root"
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        own = context | container.get("securityContext", {})
        name = container["name"]
        if own.get("runAsNonRoot") is not True or own.get("runAsUser") == 0:
            yield f"{name} may run as root"
        if own.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{name} has no seccomp profile"
        if own.get("allowPrivilegeEscalation") is not False:
            yield f"{name} may gain privileges"
        capabilities = own.get("capabilities", {})
        if "ALL" not in capabilities.get("drop", ()) or set(capabilities.get("add", ())) - {
            "NET_BIND_SERVICE"
        }:
            yield f"{name} has capabilities"
