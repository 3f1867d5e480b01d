"""Every property of both references says what it is, for a reader who does not know our code."""

import re
from typing import Any

import pytest

from services.cli.openapi.document import document, operator_document
from services.cli.openapi.schemas import OPERATOR_TEXTS, PARTNER_TEXTS

BOTH = pytest.mark.parametrize(
    ("schemas", "texts"),
    [
        (document()["components"]["schemas"], PARTNER_TEXTS),
        (operator_document()["components"]["schemas"], OPERATOR_TEXTS),
    ],
    ids=["partners", "operators"],
)


@BOTH
def test_every_property_has_a_description_and_every_text_is_used(schemas: Any, texts: dict[str, str]) -> None:
    """Nobody has to guess what a field means, and a text for a property that is gone is found."""
    properties = [prop for one in schemas.values() for prop in one.get("properties", {}).values()]
    assert [prop for prop in properties if not prop.get("description")] == []
    shown = {prop["description"] for prop in properties}
    assert {name for name, text in texts.items() if not any(one.startswith(text) for one in shown)} == set()


@BOTH
def test_descriptions_speak_to_their_readers(schemas: Any, texts: dict[str, str]) -> None:
    """No word of our own code, and whole sentences."""
    own = r"\b(struct|msgspec|asyncpg|TODO)\b" + (r"|\boutbox\b" if texts is PARTNER_TEXTS else "")
    for name, schema in schemas.items():
        for key, prop in schema.get("properties", {}).items():
            text = prop["description"]
            assert text[0].isupper() or text[0] in "`1", (name, key, text)
            assert text.endswith("."), (name, key, text)
            assert not re.search(own, text), (name, key, text)
