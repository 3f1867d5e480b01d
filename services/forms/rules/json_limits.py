"""Depth and size limits of partners' own JSON. Iterative, so that no nesting can exhaust the stack."""

from typing import Any

from shared.errors import Problem

MAX_DEPTH = 64
MAX_METADATA_BYTES = 65_536


def depth_of(value: Any) -> int:
    """1 for a flat object or array, 0 for anything else."""
    deepest = 0
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if isinstance(item, dict):
            children = list(item.values())
        elif isinstance(item, list):
            children = item
        else:
            continue
        deepest = max(deepest, depth)
        stack.extend((child, depth + 1) for child in children if isinstance(child, (dict, list)))
    return deepest


def too_deep(value: Any, loc: tuple[str | int, ...]) -> list[Problem]:
    depth = depth_of(value)
    if depth <= MAX_DEPTH:
        return []
    return [Problem(loc, f"Nested {depth} levels deep; at most {MAX_DEPTH} are kept.", "too_deep")]


def too_large(text: str, loc: tuple[str | int, ...]) -> list[Problem]:
    size = len(text.encode())
    if size <= MAX_METADATA_BYTES:
        return []
    return [Problem(loc, f"{size} bytes of JSON; at most {MAX_METADATA_BYTES} are kept.", "too_large")]
