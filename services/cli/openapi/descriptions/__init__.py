"""Descriptions of the properties in the reference.

A text is looked up under `Schema.property`, then under `property` alone. A description in the struct itself takes
precedence, because it is next to the rule. A property without a description fails `make check`.
"""

from typing import Any

from services.cli.openapi.descriptions.partners import TEXTS

Json = dict[str, Any]


def describe(components: Json, texts: dict[str, str] = TEXTS) -> None:
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
