"""Advancing the sequences after a restore."""

from typing import Annotated

from msgspec import Meta, Struct

from shared.wire import Body


class SequencesAdvance(Body, frozen=True, kw_only=True):
    # Not less: the checks of a restored database would take the jump for lost events.
    by: Annotated[int, Meta(ge=1_000_000, le=1_000_000_000)] = 1_000_000


class SequencesAdvanced(Struct, kw_only=True):
    object: str = "sequences_advanced"
    studios: int
    by: int
