"""Partners' own JSON (fields, settings, metadata) is stored as text, so that it is returned as it was sent.

Postgres' jsonb rejects some numbers and changes others. Here numbers keep their digits, objects their order.
"""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

T = TypeVar("T")
JsonObject = Annotated[msgspec.Raw, Meta(extra_json_schema={"type": "object"})]

# A number with a fraction or exponent keeps its text: 1.10 stays 1.10.
_decoder = msgspec.json.Decoder(float_hook=msgspec.Raw)
_encoder = msgspec.json.Encoder()


def read_json(text: msgspec.Raw | bytes | str) -> Any:
    """For passing JSON through, not for arithmetic: numbers are not rounded."""
    return _decoder.decode(text)


def read_row(row: Any, struct: type[T], *json: str) -> T:
    """A stored row as a struct. `json` names the columns that contain JSON as text."""
    return msgspec.convert(dict(row) | {name: msgspec.Raw(row[name].encode()) for name in json}, struct)


def write_json(value: object) -> str:
    return _encoder.encode(value).decode()
