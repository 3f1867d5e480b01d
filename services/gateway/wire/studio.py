from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Body, Id, Instant, Resource


class OperatorStudio(Resource, kw_only=True):
    id: Id
    object: Literal["studio"] = "studio"
    name: str
    slug: str | None
    timezone: str | None
    test: bool
    created_at: Instant


class StudioCreate(Body, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, max_length=500)]
    slug: Annotated[str, Meta(pattern="^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$")]
    timezone: str
    id: Id | None = None
    test: bool = False
