"""Descriptions of the properties in the references, from partners.toml and operators.toml."""

import tomllib
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_FOLDER = Path(__file__).parent
_PARTNERS: dict[str, dict[str, str]] = tomllib.loads((_FOLDER / "partners.toml").read_text("utf-8"))
_OPERATORS: dict[str, dict[str, str]] = tomllib.loads((_FOLDER / "operators.toml").read_text("utf-8"))
# Of query parameters, by name.
PARAMETERS = _PARTNERS.pop("parameters")
# Of operations in the operators' reference, by id.
OPERATIONS = _OPERATORS.pop("operations")


def _by_property(tables: dict[str, dict[str, str]]) -> dict[str, str]:
    """By `Schema.property`, or by `property` alone for those of any schema."""
    found = dict(tables.pop("any"))
    for schemas, texts in tables.items():
        for schema in schemas.split(", "):
            found |= {f"{schema}.{name}": text for name, text in texts.items()}
    return found


PARTNER_TEXTS = _by_property(_PARTNERS)
OPERATOR_TEXTS = _by_property(_OPERATORS)


def describe(components: Json, texts: dict[str, str]) -> None:
    """Adds the texts to the components' properties, in place."""
    for schema, definition in components.items():
        for name, prop in definition.get("properties", {}).items():
            text = texts.get(f"{schema}.{name}") or texts.get(name)
            if text and not prop.get("description"):
                definition["properties"][name] = {"description": text, **prop}


def undescribed(components: Json) -> list[str]:
    return [
        f"{schema}.{name}"
        for schema, definition in components.items()
        for name, prop in definition.get("properties", {}).items()
        if not prop.get("description")
    ]
