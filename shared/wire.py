"""What every body has in common: base structs, ids, instants."""

import os
import re
from datetime import UTC, datetime
from functools import lru_cache
from random import getrandbits
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

API_VERSION = "2026-08-02"

# Ids are strings everywhere in Python: a UUID object per column was an eighth of a list page's cost.
# Ends in a lookahead: Python's `$` lets a newline pass, which Postgres then refuses as no uuid.
UUID_PATTERN = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![\s\S])"
_UUID = re.compile(UUID_PATTERN + r"\Z")

Id = Annotated[str, Meta(pattern=UUID_PATTERN, extra_json_schema={"format": "uuid"})]
Instant = Annotated[datetime, Meta(tz=True)]
# RFC 5321's. `normalize_email` counts bytes, as the RFC does.
MAX_EMAIL_LENGTH = 254
Email = Annotated[str, Meta(max_length=MAX_EMAIL_LENGTH, extra_json_schema={"format": "email"})]


class Resource(Struct, kw_only=True):
    """A response body: every field is always present."""


class Body(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A request body. Unknown fields are refused, since most of them are typos."""


class Query(Struct, kw_only=True, frozen=True):
    """Query parameters."""

    @classmethod
    def conflicts(cls, given: dict[str, Any]) -> list[tuple[str, str]]:
        """Parameters that do not go with the others, each with a sentence. Any value may be invalid."""
        return []


Order = Annotated[
    Literal["asc", "desc"], Meta(description="The oldest first (`asc`), or the newest first (`desc`).")
]
DEFAULT_PAGE_SIZE = 50
Cursor = Annotated[
    Annotated[str, Meta(extra_json_schema={"minLength": 1})] | None,
    Meta(description="`next_cursor` of the previous page, unchanged."),
]


class PageQuery(Query, frozen=True, kw_only=True):
    cursor: Cursor = None
    limit: Annotated[
        int,
        Meta(ge=1, le=200, description="The maximum number of rows per page. A page also ends at 512 KiB."),
    ] = DEFAULT_PAGE_SIZE


_encoder = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    return _encoder.encode(value)


def new_id() -> str:
    """A random uuid (version 4), written without making a UUID object first: a third of uuid4's time."""
    return _as_uuid(int.from_bytes(os.urandom(16)))


def new_id_at(moment: datetime) -> str:
    """A uuid of version 7, which tells its moment to the millisecond. The rest is random."""
    return _as_uuid(int(moment.timestamp() * 1000) << 80 | int.from_bytes(os.urandom(10)), 7)


def delivery_id(event_id: str, endpoint_id: str) -> str:
    """Of the one delivery of an event to an endpoint.

    It begins like the event's, which tells its moment, so that ids fill an index at its end and those of an
    event stand together. The rest differs for each endpoint, because the end of its id is random.
    """
    mixed = _random_half(event_id) ^ _random_half(endpoint_id) | 1 << 63
    return f"{event_id[:19]}{mixed >> 48:04x}-{mixed & 0xFFFF_FFFF_FFFF:012x}"


@lru_cache(16_384)
def _random_half(id_: str) -> int:
    """The end of a uuid without the bits that say its variant."""
    return int(id_[19:23] + id_[24:], 16) & ~(0b11 << 62)


def new_request_id() -> str:
    """A uuid like the others. Nobody has to be unable to guess it, so it costs no system call."""
    return _as_uuid(getrandbits(128))


def _as_uuid(number: int, version: int = 4) -> str:
    # With the bits that say its version and variant.
    digits = f"{number & ~0xF000_C000_0000_0000_0000 | version << 76 | 1 << 63:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def is_id(text: str) -> bool:
    return _UUID.match(text) is not None


def now() -> datetime:
    """The clock of actions; rules get it as an argument."""
    return datetime.now(UTC)


def in_utc(moment: datetime) -> datetime:
    """The same instant in UTC. One without a UTC form is returned unchanged; the value checks refuse it."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return moment
