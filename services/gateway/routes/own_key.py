"""`GET /key`, which the gateway answers itself: the key in use, without its secret."""

from services.gateway.key_cache import CachedKey
from services.gateway.upstream import UpstreamAnswer
from services.gateway.wire.key import OwnKey, RateLimit
from shared.http.answer import Answer, Headers, with_entity_tag
from shared.wire import encode


def own_key(key: CachedKey, request_headers: Headers) -> UpstreamAnswer:
    caller = key.caller
    body = encode(
        OwnKey(
            id=key.id,
            name=key.name,
            studio_id=caller.studio_id,
            client_id=caller.client_id,
            scopes=sorted(caller.scopes),
            location_ids=list(caller.location_ids) if caller.location_ids is not None else None,
            expires_at=key.expires_at,
            rate_limit=RateLimit(requests_per_second=key.rate, burst=key.burst),
        )
    )
    return json_answer(body, request_headers)


def json_answer(body: bytes, request_headers: Headers) -> UpstreamAnswer:
    answer = with_entity_tag(Answer(body), request_headers)
    headers = [(b"content-type", answer.content_type), *answer.headers]
    if answer.status == 200:
        headers.append((b"content-length", b"%d" % len(body)))
    return UpstreamAnswer(answer.status, headers, answer.body)
