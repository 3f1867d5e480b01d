"""What `kustomize build` does, as far as we need it: every machine checks what would be applied."""

import base64
import copy
import re
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.replacing import replace_fields

Manifest = dict[str, Any]
KNOWN = {
    "apiVersion",
    "kind",
    "namespace",
    "resources",
    "components",
    "labels",
    "patches",
    "images",
    "secretGenerator",
    "replacements",
}
# These are in no namespace.
CLUSTER_WIDE = ("Namespace",)


def read(path: Path) -> list[Manifest]:
    return [found for found in yaml.safe_load_all(path.read_text()) if found]


def build(folder: Path) -> list[Manifest]:
    """Everything that `folder` builds, without hashes in generated names. An unknown field is an error."""
    return _applied(folder, [])


def _applied(folder: Path, found: list[Manifest]) -> list[Manifest]:
    [rules] = read(folder / "kustomization.yaml")
    assert rules.keys() <= KNOWN, f"{folder.name}: {rules.keys() - KNOWN} is not understood here"
    for name in rules.get("resources", ()):
        found = found + (build(folder / name) if (folder / name).is_dir() else read(folder / name))
    for name in rules.get("components", ()):
        found = _applied(folder / name, found)
    found += [_secret(folder, words) for words in rules.get("secretGenerator", ())]
    for patch in rules.get("patches", ()):
        found = _patched(folder, patch, found)
    for manifest in found:
        if "namespace" in rules and manifest["kind"] not in CLUSTER_WIDE:
            manifest["metadata"]["namespace"] = rules["namespace"]
        for labels in rules.get("labels", ()):
            assert labels.keys() == {"pairs"}, "labels of selectors and templates are not understood here"
            manifest["metadata"].setdefault("labels", {}).update(labels["pairs"])
        for image in rules.get("images", ()):
            _set_image(manifest, image)
    for replacement in rules.get("replacements", ()):
        replace_fields(found, replacement)
    return found


def _patched(folder: Path, patch: Any, found: list[Manifest]) -> list[Manifest]:
    text = (folder / patch["path"]).read_text() if "path" in patch else patch["patch"]
    change, target, kept = yaml.safe_load(text), patch["target"], []
    hit = False
    for manifest in found:
        name = manifest["metadata"]["name"]
        if manifest["kind"] != target["kind"] or not re.fullmatch(target.get("name", ".*"), name):
            kept.append(manifest)
            continue
        hit = True
        if isinstance(change, list):
            kept.append(_edited(manifest, change))
        elif change.get("$patch") != "delete":
            named = {key: value for key, value in change.items() if key not in ("apiVersion", "metadata")}
            kept.append(merged(manifest, named))
    assert hit, f"a patch of {folder.name} meets nothing: {target}"
    return kept


def _edited(manifest: Manifest, operations: list[Any]) -> Manifest:
    manifest = copy.deepcopy(manifest)
    for operation in operations:
        *way, last = operation["path"].strip("/").split("/")
        place: Any = manifest
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key = int(last) if isinstance(place, list) else last
        if operation["op"] != "add":
            place[key]  # replacing or removing something that does not exist is an error in kustomize too
        if operation["op"] == "remove":
            del place[key]
        else:
            assert operation["op"] in ("add", "replace"), operation
            place[key] = operation["value"]
    return manifest


def merged(one: Any, other: Any) -> Any:
    """A strategic merge as far as we need it: maps by key, lists of named things by name."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: merged(one[name], other[name]) for name in one.keys() & other.keys()}
        return copy.deepcopy({**one, **other, **both})
    if isinstance(one, list) and isinstance(other, list) and all("name" in item for item in (*one, *other)):
        names = {item["name"]: item for item in one}
        for item in other:
            names[item["name"]] = merged(names[item["name"]], item) if item["name"] in names else item
        return list(names.values())
    return copy.deepcopy(other)


def _secret(folder: Path, words: Any) -> Manifest:
    lines = list(words.get("literals", ()))
    for name in words.get("envs", ()):
        lines += [line for line in (folder / name).read_text().splitlines() if line]
    values = dict(line.split("=", 1) for line in lines)
    values |= {name: (folder / name).read_text() for name in words.get("files", ())}
    data = {name: base64.b64encode(value.encode()).decode() for name, value in values.items()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": words["name"]},
        "type": "Opaque",
        "data": data,
    }


def _set_image(manifest: Manifest, image: Any) -> None:
    template = manifest["spec"].get("template", {}) if isinstance(manifest.get("spec"), dict) else {}
    for container in template.get("spec", {}).get("containers", ()):
        if container["image"].partition(":")[0] == image["name"]:
            version = f"@{image['digest']}" if "digest" in image else f":{image['newTag']}"
            container["image"] = image.get("newName", image["name"]) + version
