"""Every property of the reference says what it is, for a reader who does not know our code."""

import re

from services.cli.openapi.descriptions import PARTNER_TEXTS, undescribed
from services.cli.openapi.document import document


def test_every_property_of_every_schema_has_a_description() -> None:
    """A partner never has to guess what a field means."""
    assert undescribed(document()["components"]["schemas"]) == []


def test_every_text_is_used() -> None:
    """A text for a property that no longer exists would go stale unnoticed."""
    schemas = document()["components"]["schemas"]
    texts = {
        prop["description"] for schema in schemas.values() for prop in schema.get("properties", {}).values()
    }
    unused = {
        name for name, text in PARTNER_TEXTS.items() if not any(told.startswith(text) for told in texts)
    }
    assert unused == set()


def test_descriptions_speak_to_partners() -> None:
    """No word of our own code, and whole sentences."""
    schemas = document()["components"]["schemas"]
    for name, schema in schemas.items():
        for key, prop in schema.get("properties", {}).items():
            text = prop["description"]
            assert text[0].isupper() or text[0] in "`1", (name, key, text)
            assert text.endswith("."), (name, key, text)
            assert not re.search(r"\b(struct|msgspec|outbox|asyncpg|TODO)\b", text), (name, key, text)
