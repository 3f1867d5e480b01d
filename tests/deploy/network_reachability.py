"""Which pods may connect under the network policies, evaluated as a cluster does: both ends must allow it."""

from typing import Any

from tests.deploy.chart import Manifest

Labels = dict[str, str]


def selects(selector: Any, labels: Labels) -> bool:
    """An empty selector selects everything."""
    wanted = all(labels.get(name) == value for name, value in selector.get("matchLabels", {}).items())
    return wanted and all(
        (labels.get(rule["key"]) in rule["values"]) == (rule["operator"] == "In")
        for rule in selector.get("matchExpressions", ())
    )


def reaches(policies: list[Manifest], one: Labels, other: Labels, port: int) -> bool:
    """Between two pods in the same namespace."""
    return all(
        _opens(policies, side, pod, "podSelector", peer, port)
        for side, pod, peer in (("Egress", one, other), ("Ingress", other, one))
    )


def reached_from(policies: list[Manifest], namespace: Labels, pod: Labels, port: int) -> bool:
    """From the pods of another namespace, whose own policies we do not know."""
    return _opens(policies, "Ingress", pod, "namespaceSelector", namespace, port)


def reaches_namespace(policies: list[Manifest], pod: Labels, namespace: Labels, port: int) -> bool:
    """The other way round."""
    return _opens(policies, "Egress", pod, "namespaceSelector", namespace, port)


def _opens(policies: list[Manifest], side: str, pod: Labels, kind: str, labels: Labels, port: int) -> bool:
    """Whether a rule for this pod has a peer that this kind of selector selects by these labels."""
    return any(
        _has_port(rule, port)
        and any(
            kind in peer and selects(peer[kind], labels)
            for peer in (*rule.get("to", ()), *rule.get("from", ()))
        )
        for rule in _rules(policies, side, pod)
    )


def _rules(policies: list[Manifest], side: str, pod: Labels) -> list[Any]:
    mine = [policy["spec"] for policy in policies if selects(policy["spec"]["podSelector"], pod)]
    assert any(side in spec["policyTypes"] for spec in mine), f"nothing is closed for {pod}"
    return [rule for spec in mine if side in spec["policyTypes"] for rule in spec.get(side.lower(), ())]


def _has_port(rule: Any, port: int) -> bool:
    return "ports" not in rule or any(
        found["port"] <= port <= found.get("endPort", found["port"]) for found in rule["ports"]
    )
