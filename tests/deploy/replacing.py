"""Kustomize's `replacements`, as far as we need them: one field's value is copied to others."""

import re
from typing import Any

_STEP = re.compile(r"\[([^]]*)\]|([^.]+)")


def replace_fields(manifests: list[Any], replacement: Any) -> None:
    """A target that no object has is an error, as in kustomize."""
    [source] = [each for each in manifests if _selected(each, replacement["source"])]
    value = _read(source, replacement["source"]["fieldPath"])
    for target in replacement["targets"]:
        chosen = [each for each in manifests if _selected(each, target["select"])]
        assert chosen, f"a replacement meets nothing: {target}"
        for manifest in chosen:
            for path in target["fieldPaths"]:
                _write(manifest, path, value, target.get("options", {}).get("delimiter"))


def _selected(manifest: Any, by: Any) -> bool:
    return manifest["kind"] == by["kind"] and by.get("name") in (None, manifest["metadata"]["name"])


def _steps(path: str) -> list[str]:
    """`[a.b/c]` is one key, and `[name=x]` the item of a list that has this name."""
    return [bracket or plain for bracket, plain in _STEP.findall(path)]


def _read(place: Any, path: str) -> Any:
    for step in _steps(path):
        place = place[_key(place, step)]
    return place


def _write(manifest: Any, path: str, value: str, delimiter: str | None) -> None:
    *way, last = _steps(path)
    place = manifest
    for step in way:
        place = place[_key(place, step)]
    old = place[last]
    place[last] = delimiter.join([value, *old.split(delimiter)[1:]]) if delimiter else value


def _key(place: Any, step: str) -> Any:
    if not isinstance(place, list):
        return step
    if step.isdigit():
        return int(step)
    name, _, wanted = step.partition("=")
    [found] = [number for number, item in enumerate(place) if item[name] == wanted]
    return found
