"""The state of one partner request in the gateway."""

from typing import Any

from services.gateway.key_cache import CachedKey
from services.gateway.rules.rate_limit import ReservedBucket, TokenBucket, cost_of
from shared.http.asgi import Receive
from shared.http.caller import REQUEST_ID_HEADER, TRACE_HEADER
from shared.http.client_address import TrustedProxies, address_of
from shared.http.routes import MAX_BODY
from shared.http.service import raw_path_of, valid_request_id
from shared.observability.tracing import Span, valid_traceparent
from shared.routing import PREFIX, PartnerRoute


class PartnerRequest:
    """The parts of the scope that are needed, read once, and the results of the checks."""

    __slots__ = (
        "address",
        "bucket",
        "cost",
        "headers",
        "id",
        "key",
        "method",
        "path",
        "raw_headers",
        "receive",
        "route",
        "span",
        "target",
        "traceparent",
    )

    def __init__(self, scope: Any, receive: Receive, proxies: TrustedProxies) -> None:
        self.raw_headers: list[tuple[bytes, bytes]] = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(self.raw_headers)
        self.id = valid_request_id(self.headers.get(REQUEST_ID_HEADER))
        self.method: str = scope["method"]
        self.path = raw_path_of(scope)
        query: bytes = scope["query_string"]
        self.target = self.path[len(PREFIX) :] + (b"?" + query if query else b"")
        self.address = address_of(scope, self.headers, proxies)
        self.receive = receive
        length = self.headers.get(b"content-length")
        # An unknown length is charged once the body has been read.
        self.cost = cost_of(min(int(length), MAX_BODY)) if length and length.isdigit() else 1
        self.key: CachedKey | None = None
        self.bucket: TokenBucket | ReservedBucket | None = None
        self.route: PartnerRoute | None = None
        self.span: Span | None = None
        trace = self.headers.get(TRACE_HEADER)
        self.traceparent = valid_traceparent(trace.decode("latin-1")) if trace else None
