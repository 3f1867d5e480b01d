from decimal import Decimal
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from shared.wire import Body, Id, Instant, Query, Resource


class OperatorStudio(Resource, kw_only=True):
    id: Id
    object: Literal["studio"] = "studio"
    name: str
    slug: str | None
    timezone: str | None
    test: bool
    created_at: Instant


Slug = Annotated[
    str,
    Meta(
        pattern=r"^[a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?(?![\s\S])",
        description="Lower case; must not look like an id.",
    ),
]


class StudioLine(Struct, kw_only=True, forbid_unknown_fields=True):
    """A studio line of an import. The gateway validates it before any service stores its copy."""

    object: Literal["studio"]
    id: Id
    studio_id: Id | None = None
    created_at: Instant | None = None
    version: Annotated[int, Meta(ge=1, le=2_000_000_000)] | None = None
    name: Annotated[str, Meta(min_length=1, max_length=500)]
    slug: Slug | None = None
    timezone: str | None = None
    logo_url: str | None = None
    primary_color: str | None = None
    test: bool = False
    late_window_minutes: Annotated[int, Meta(ge=0, le=525_600)] | UnsetType = UNSET
    late_fee_amount: Decimal | None = None
    late_fee_currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}(?![\s\S])")] | None = None
    forfeit_credit: bool | UnsetType = UNSET


class StudioCreate(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=500)]
    slug: Slug
    timezone: str
    id: Id | None = None
    test: bool = False


class StudioFilter(Query, frozen=True, kw_only=True):
    studio: Annotated[str | None, Meta(description="Only this studio, by slug or id.")] = None
