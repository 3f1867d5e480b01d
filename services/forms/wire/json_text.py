"""JSON that partners own (fields, settings, metadata) is kept as text, so that it comes back as it was sent.

Postgres' jsonb refuses some numbers and changes others; here a number keeps its digits, an object its order.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

JsonObject = Annotated[msgspec.Raw, Meta(extra_json_schema={"type": "object"})]

# A number with a fraction or an exponent is passed on as its own text: 1.10 stays 1.10.
_decoder = msgspec.json.Decoder(float_hook=msgspec.Raw)
_encoder = msgspec.json.Encoder()


def read_json(text: msgspec.Raw | bytes | str) -> Any:
    """For passing on, not for reckoning: nothing is rounded on the way through."""
    return _decoder.decode(text)


def write_json(value: object) -> str:
    return _encoder.encode(value).decode()
