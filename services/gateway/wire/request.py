"""The log of a client's requests."""

from typing import Annotated, Literal

from msgspec import Meta

from shared.wire import Id, Instant, PageQuery, Resource


class LoggedRequest(Resource, kw_only=True):
    """A request that the gateway answered. Its body, its query and the ids in its path are not stored."""

    id: Id
    object: Literal["request"] = "request"
    request_id: str
    at: Instant
    method: str
    route: str | None
    status: int
    error_code: str | None
    duration_ms: float
    key_id: Id


class RequestsQuery(PageQuery, frozen=True, kw_only=True):
    status_class: Annotated[
        Literal["2xx", "3xx", "4xx", "5xx"] | None,
        Meta(description="Only requests that were answered with such a status."),
    ] = None
    request_id: Annotated[
        Annotated[str, Meta(max_length=128)] | None, Meta(description="Only requests with this id.")
    ] = None
