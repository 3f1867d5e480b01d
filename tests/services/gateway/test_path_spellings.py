"""Every write of both documents under every other spelling of its path: nothing is done, or it is audited.

Writes, values and bodies come from the documents, so a new write is in it by itself.
"""

import re
from collections.abc import Iterator
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

import msgspec
import pytest
from msgspec import Struct

from services.cli.demo import STUDIO_ID
from services.cli.openapi.document import document, operator_document
from services.gateway.routes.operator.audit_trail import action_of
from shared.routing import STAFF_ROUTES, OperatorRoute
from shared.wire import new_id
from tests.harness.console import PAGE
from tests.harness.databases import connected
from tests.services.cli.test_code_samples import REFUSED, Demo, demo, operations, put_back

__all__ = ["demo"]
READS = {(route.method, route.path) for route in STAFF_ROUTES if route.reads}
# No such path, or one with a value that cannot be; a too low role is found out before the value.
REFUSALS = (403, 404, 405, 422)
_next_id = count()


class Write(Struct):
    operation_id: str
    method: str
    prefix: str
    template: str
    path: str  # with the values of the demo studio
    query: str
    body: bytes
    content_type: str
    statuses: dict[str, Any]
    role: str


class Reply(Struct):
    status: int
    body: bytes
    request_id: str


class Sender:
    """One connection that sends targets exactly as they are."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._url = urlsplit(url)
        self._headers = headers
        self._connection = HTTPConnection(str(self._url.hostname), self._url.port, timeout=30)

    def send(self, write: Write, path: str) -> Reply:
        request_id = f"spelling-{next(_next_id)}"
        more = {"X-Request-Id": request_id, "Idempotency-Key": new_id(), "Content-Type": write.content_type}
        target = path + (f"?{write.query}" if write.query else "")
        self._connection.request(write.method, target, write.body, self._headers | more)
        response = self._connection.getresponse()
        return Reply(response.status, response.read(), request_id)


def writes(described: dict[str, Any], prefix: str) -> list[Write]:
    """In an order in which each succeeds, all in the demo studio."""
    places = {
        one["operationId"]: (method, path)
        for path, methods in described["paths"].items()
        for method, one in methods.items()
    }
    found = []
    for name, one in operations(described).items():
        method, template = places[name]
        if method == "get":
            continue
        values = [value for value in one["parameters"] if "example" in value]
        path = {value["name"]: str(value["example"]) for value in values if value["in"] == "path"}
        query = {value["name"]: value["example"] for value in values if value["in"] == "query"}
        ((kind, content),) = one.get("requestBody", {"content": {"": {}}})["content"].items()
        example = content.get("example", "")
        body = example.encode() if isinstance(example, str) else msgspec.json.encode(example)
        found.append(
            Write(
                name,
                method.upper(),
                prefix,
                template,
                prefix + template.format(**path),
                urlencode(query),
                body,
                kind or "application/json",
                one["responses"],
                one.get("x-required-role", ""),
            )
        )
    return found


PARTNERS = writes(document(), "/partner/v1")
OPERATORS = writes(operator_document(), "/operator/v1")


def other_spellings(write: Write) -> Iterator[str]:
    path = write.path
    slashes = [place for place, letter in enumerate(path) if letter == "/"]
    for place in slashes:
        head, tail = path[:place], path[place:]
        for inserted in ("/", "//", "/.", "/%2e", "/%2E", "/x/..", "/x/%2e%2e", "/;x", "/%20", "/%00"):
            yield head + inserted + tail
        for instead in ("%2F", "%2f", "%252F", "%5C", "\\") if head else ():
            yield head + instead + tail[1:]
    for ending in ("/", "//", "/.", "/..", "/%2e", "%2F", "%2f", ";x", "%3Bx", "%20", "%00", ".", ".json"):
        yield path + ending
    yield path.upper()
    yield f"{path}/{'a' * 5_000}"
    start = len(write.prefix)
    # A parameter may have any case, and any letter of it may be encoded; the words around it may not.
    for word in re.finditer(r"(?<=/)[a-z-]+(?=/|$)", write.template):
        for other in (word[0].upper(), word[0].title(), f"{word[0]};x", "a" * 5_000):
            yield write.prefix + path[start:].replace(f"/{word[0]}", f"/{other}", 1)
    yield "/%" + f"{ord(path[1]):02x}" + path[2:]


def encoded(write: Write) -> str:
    """Another spelling of the same path (RFC 3986 6.2.2.2): every letter `e` below the prefix is encoded."""
    return write.prefix + write.path[len(write.prefix) :].replace("e", "%65")


async def entries_of(demo: Demo, replies: list[Reply]) -> dict[str, list[tuple[str, str, str]]]:
    async with connected(demo.database_url) as connection:
        rows = await connection.fetch(
            "SELECT request_id, actor, action, target FROM gateway.audit_log WHERE request_id = ANY ($1)",
            [reply.request_id for reply in replies],
        )
    found: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        found.setdefault(row["request_id"], []).append((row["actor"], row["action"], row["target"]))
    return found


async def refused_in_other_spellings(demo: Demo, sender: Sender, write: Write) -> None:
    sent = {path: sender.send(write, path) for path in other_spellings(write)}
    done = {path: reply.status for path, reply in sent.items() if reply.status not in REFUSALS}
    assert done == {}, write.operation_id
    assert await entries_of(demo, list(sent.values())) == {}, write.operation_id


def expected(write: Write) -> int:
    good = next(int(status) for status in write.statuses if status.startswith("2"))
    return int(REFUSED.get(write.operation_id, good))


@pytest.mark.timeout(240)
async def test_no_other_spelling_of_a_partners_write_does_anything(demo: Demo) -> None:
    """They are refused; the write itself then still finds everything as it was."""
    await put_back(demo.database_url)
    sender = Sender(demo.origin, {"X-Service-Key": demo.key})
    operator = {"Authorization": f"Bearer {demo.operator_token}"}
    # It has to send thousands of requests.
    _call(demo, "PATCH", "/operator/v1/clients/demo", {"rate": 10_000, "burst": 10_000}, operator)
    for write in PARTNERS:
        await refused_in_other_spellings(demo, sender, write)
        assert sender.send(write, write.path).status == expected(write), write.operation_id


@pytest.mark.timeout(240)
@pytest.mark.parametrize("who", ["operator", "manager", "session"])
async def test_a_write_of_operators_and_staff_is_refused_or_audited(demo: Demo, who: str) -> None:
    """By token and by cookie: one entry with action and target for what is done, and none for a refusal."""
    await put_back(demo.database_url)
    actor, headers = credentials(demo, who)
    sender = Sender(demo.operator_origin, headers)
    for write in OPERATORS:
        # Everybody's path is looked up in the same table, so one caller tries them all.
        if who == "operator":
            await refused_in_other_spellings(demo, sender, write)
        elif write.operation_id == "revoke_staff_token":
            continue
        done = sender.send(write, encoded(write) if who == "manager" else write.path)
        entries = (await entries_of(demo, [done])).get(done.request_id, [])
        if who != "operator" and write.role == "operator":
            assert (done.status, entries) == (403, []), write.operation_id
            continue
        assert done.status == expected(write), (write.operation_id, done.body)
        if done.status >= 400 or (write.method, write.template) in READS:
            assert entries == [], write.operation_id
            continue
        action = action_of(OperatorRoute(write.method, write.template))
        assert entries == [(actor, action, target_of(write, action, done.body))], write.operation_id


def target_of(write: Write, action: str, body: bytes) -> str:
    """Of something new its id, otherwise the last value in the path, or the studio of the import."""
    made = msgspec.json.decode(body) if action.endswith(".create") else {}
    if "id" in made:
        return str(made["id"])
    if "{" not in write.template:
        return {"import": STUDIO_ID, "sequences.advance": "all"}[action]
    last = max(place for place, word in enumerate(write.template.split("/")) if word.startswith("{"))
    return write.path.removeprefix(write.prefix).split("/")[last]


def credentials(demo: Demo, who: str) -> tuple[str, dict[str, str]]:
    """The audit log's name for the caller, and the caller's headers."""
    operator = {"Authorization": f"Bearer {demo.operator_token}"}
    if who == "operator":
        return "operator", operator
    token = _call(
        demo, "POST", "/operator/v1/studios/demo/staff-tokens", {"name": "M", "role": "manager"}, operator
    )
    made = msgspec.json.decode(token[1])
    if who == "manager":
        return made["id"], {"Authorization": f"Bearer {made['token']}"}
    cookie, _ = _call(demo, "POST", "/console/session", {"token": made["token"]}, PAGE)
    return made["id"], PAGE | {"Cookie": cookie.partition(";")[0]}


def _call(demo: Demo, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[str, bytes]:
    """The cookie that is set, and the body."""
    sent = headers | {"Content-Type": "application/json"}
    request = Request(demo.operator_origin + path, msgspec.json.encode(body), sent, method=method)
    with urlopen(request, timeout=30) as response:
        return response.headers.get("Set-Cookie", ""), response.read()
