"""Sessions of the consoles."""

from typing import Annotated, Literal

from msgspec import Meta

from shared.routing import SCOPES
from shared.wire import Body, Instant, Resource

SessionSeconds = Annotated[int, Meta(ge=300, le=86_400)]
# Not an enum of its own: whether the key has them is checked where the key is known.
_Scope = Annotated[str, Meta(extra_json_schema={"enum": sorted(SCOPES)})]
SessionScopes = Annotated[list[_Scope], Meta(min_length=1, max_length=len(SCOPES))]


class ConsoleSessionCreate(Body, frozen=True, kw_only=True):
    expires_in: SessionSeconds = 3_600
    scopes: SessionScopes | None = None


class ConsoleSession(Resource, kw_only=True):
    """A link into the console. It works once, within ten minutes."""

    object: Literal["console_session"] = "console_session"
    url: str
    expires_at: Instant


class SignIn(Body, frozen=True, kw_only=True):
    """What the page exchanges for its cookie: a link's token, or an operator's or staff token."""

    token: Annotated[str, Meta(max_length=1_000)]


class SignedIn(Resource, kw_only=True):
    object: Literal["console_session"] = "console_session"
    expires_at: Instant


class OperatorSignedIn(SignedIn, kw_only=True):
    object: Literal["operator_session"] = "operator_session"  # type: ignore[assignment]
    role: Literal["staff", "manager", "operator"]
    studio_id: str | None
