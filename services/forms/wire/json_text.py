"""JSON that partners own (fields, settings, metadata) is kept as text, so that it comes back as it was sent.

Postgres' jsonb refuses some numbers and changes others; here a number keeps its digits, an object its order.
"""

from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

JsonArray = Annotated[msgspec.Raw, Meta(extra_json_schema={"type": "array"})]
JsonObject = Annotated[msgspec.Raw, Meta(extra_json_schema={"type": "object"})]

_decoder = msgspec.json.Decoder(float_hook=Decimal)
_encoder = msgspec.json.Encoder(decimal_format="number")


def read_json(text: msgspec.Raw | bytes | str) -> Any:
    """Numbers with a fraction come as decimals: nothing is rounded on the way through."""
    return _decoder.decode(text)


def write_json(value: object) -> str:
    return _encoder.encode(value).decode()


def tidy_json(text: msgspec.Raw) -> str:
    """The same value without spaces and without doubled keys."""
    return write_json(read_json(text))
