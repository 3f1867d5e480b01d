"""How much each key is used."""

from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, Instant, PageQuery, Resource


class KeyUsage(Resource, kw_only=True):
    """A key with its requests since the given time."""

    id: Annotated[Id, Meta(description="The key's id.")]
    object: Literal["key_usage"] = "key_usage"
    studio_id: Id
    client_id: Id
    client_name: str
    name: str
    prefix: str
    requests: Annotated[int, Meta(description="Requests that were answered, whatever the status.")]
    errors: Annotated[int, Meta(description="Those of them that were answered with 4xx or 5xx.")]
    last_used_at: Instant | None


class UsageQuery(PageQuery, frozen=True, kw_only=True):
    studio: Annotated[str | None, Meta(description="Only this studio, by slug or id.")] = None
    since: Annotated[
        Instant | None,
        Meta(description="Count from the hour of this instant on; 31 days are kept. Left out: all of them."),
    ] = None
