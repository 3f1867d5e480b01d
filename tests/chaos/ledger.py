"""Records every acknowledged write and everything that the receivers got."""

import base64
import hashlib
import hmac
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from services.webhooks.rules.signing import signing_key
from tests.chaos.receiver import Post

# A dispatcher that was stopped may still use the old address of an endpoint, but not for longer than this.
OLD_PATH_SECONDS = 30.0
# The type of a write's event, and the id of the resource.
Fact = tuple[str, str]


class Endpoint(Struct, frozen=True):
    """A webhook endpoint of one of the studios."""

    studio_id: str
    fifo: bool
    secret: str
    id: str = ""
    url: str = ""


class Erasure(Struct):
    """Of a person. `answered` is the time of day at which it was acknowledged, in whole seconds."""

    email: str
    answered: float = float("inf")


class Write(Struct, frozen=True):
    """An acknowledged write, or what follows from one. `fields` must be in the event as in the response."""

    studio_id: str
    at: float
    fields: dict[str, Any]


class Ledger:
    """`problems` are corruptions as sentences. `expected` has the writes and what follows from them."""

    def __init__(self, endpoints: dict[str, Endpoint]) -> None:
        self.endpoints = endpoints
        self.writes: dict[Fact, Write] = {}
        self.expected: dict[Fact, Write] = {}
        self.arrived: dict[Fact, float] = {}
        self.accepted: dict[str, set[Fact]] = defaultdict(set)
        self.awaited: dict[str, set[Fact]] = defaultdict(set)
        self.event_ids: dict[Fact, set[str]] = defaultdict(set)
        self.digests: dict[str, bytes] = {}
        self.facts: dict[str, tuple[Fact, Any]] = {}
        self.versions: dict[str, int] = {}
        self.erasures: dict[str, Erasure] = {}
        # The path of each endpoint that was changed, and when that was acknowledged.
        self.paths: dict[str, tuple[str, float]] = {}
        # The change that was sent last: it may have taken effect before its response is here.
        self.changing: dict[str, str] = {}
        # Not while a fault changes clocks.
        self.timestamps_are_real = True
        self.problems: list[str] = []
        self._versions: dict[tuple[str, str], int] = {}
        self._last_accepted: dict[str, int] = defaultdict(int)
        self._accepted_ids: dict[str, set[str]] = defaultdict(set)
        self._sequences: dict[str, set[int]] = defaultdict(set)
        self._checked: set[Fact] = set()

    def acknowledge(self, fact: Fact, studio_id: str, fields: dict[str, Any]) -> None:
        known = self.writes.get(fact)
        if known is None:
            self.expect(fact, studio_id, fields)
            self.writes[fact] = self.expected[fact]
        elif known.fields != fields:
            self.problems.append(f"{fact}: answered {known.fields}, then {fields}")

    def expect(self, fact: Fact, studio_id: str, fields: dict[str, Any]) -> None:
        """From now on the event is awaited at the endpoints of the studio."""
        self.expected[fact] = Write(studio_id, time.monotonic(), fields)
        for name in self._endpoints_of(studio_id):
            if fact not in self.accepted[name]:
                self.awaited[name].add(fact)
        self._note_arrival(fact)

    def begin_erasure(self, resource_id: str, email: str) -> None:
        """From now on its events may come in two forms."""
        self.erasures.setdefault(resource_id, Erasure(email))

    def end_erasure(self, resource_id: str) -> None:
        """A request that is signed in a later second must not name the person."""
        self.erasures[resource_id].answered = int(time.time())

    def begin_change(self, endpoint: str, path: str) -> None:
        self.changing[endpoint] = path

    def change_path(self, endpoint: str, path: str) -> None:
        self.paths[endpoint] = (path, time.time())

    def _endpoints_of(self, studio_id: str) -> list[str]:
        return [name for name, endpoint in self.endpoints.items() if endpoint.studio_id == studio_id]

    def _note_arrival(self, fact: Fact) -> None:
        """Once every endpoint of the studio has accepted it."""
        write = self.expected.get(fact)
        if write is not None and not any(
            fact in self.awaited[name] for name in self._endpoints_of(write.studio_id)
        ):
            self.arrived.setdefault(fact, time.monotonic())

    def note(self, endpoint: str, post: Post, accepted: bool) -> None:
        """Called by the receivers, before they answer."""
        event_id, sequence = post.headers["webhook-id"], int(post.headers["webhook-sequence"])
        if not self._is_signed(endpoint, post):
            self.problems.append(f"{event_id} came to {endpoint} with a wrong signature")
        if event_id not in self.facts:
            event = json.loads(post.body)
            if event["studio_id"] != self.endpoints[endpoint].studio_id:
                self.problems.append(f"{event_id} came to {endpoint}, which is of another studio")
            fact = (event["type"], event["resource"]["id"])
            self.facts[event_id] = (fact, event["data"]["object"])
            self.versions[event_id] = event["resource"]["version"]
            self.event_ids[fact].add(event_id)
        self._check_body(event_id, post)
        self._check_path(endpoint, post)
        if accepted:
            self._accept(endpoint, event_id, sequence)

    def _check_body(self, event_id: str, post: Post) -> None:
        """The same bytes each time, except that a person who is erased disappears from them."""
        digest = hashlib.sha256(post.body).digest()
        erasure = self.erasures.get(self.facts[event_id][0][1])
        if erasure is None:
            if self.digests.setdefault(event_id, digest) != digest:
                self.problems.append(f"{event_id} came with two bodies")
        elif erasure.email.encode() in post.body and self._signed_after(erasure.answered, post):
            self.problems.append(f"{event_id} names a person who was erased before it was sent")

    def _check_path(self, endpoint: str, post: Post) -> None:
        path, changed = self.paths.get(endpoint, (post.path, 0.0))
        if post.path not in (path, self.changing.get(endpoint)) and self._signed_after(
            changed + OLD_PATH_SECONDS, post
        ):
            self.problems.append(f"{endpoint} got {post.path}, long after it was changed to {path}")

    def _signed_after(self, moment: float, post: Post) -> bool:
        """By the time that the request names: what a connection was given before may arrive later."""
        return self.timestamps_are_real and int(post.headers["webhook-timestamp"]) > moment

    def _accept(self, endpoint: str, event_id: str, sequence: int) -> None:
        fact, _ = self.facts[event_id]
        self.accepted[endpoint].add(fact)
        self.awaited[endpoint].discard(fact)
        self._note_arrival(fact)
        self._sequences[endpoint].add(sequence)
        if event_id in self._accepted_ids[endpoint]:
            return
        self._accepted_ids[endpoint].add(event_id)
        if self.endpoints[endpoint].fifo:
            if sequence < self._last_accepted[endpoint]:
                self.problems.append(
                    f"{endpoint} is fifo and got {sequence} after {self._last_accepted[endpoint]}"
                )
            self._check_version(endpoint, fact[1], self.versions[event_id])
        self._last_accepted[endpoint] = max(sequence, self._last_accepted[endpoint])

    def _check_version(self, endpoint: str, resource_id: str, version: int) -> None:
        """The order of a resource's events is the order of its writes."""
        before = self._versions.get((endpoint, resource_id), version)
        if version < before:
            self.problems.append(f"{endpoint} got version {version} of {resource_id} after {before}")
        self._versions[endpoint, resource_id] = version

    def _is_signed(self, endpoint: str, post: Post) -> bool:
        signed = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode() + post.body
        wanted = hmac.digest(signing_key(self.endpoints[endpoint].secret), signed, hashlib.sha256)
        return f"v1,{base64.b64encode(wanted).decode()}" in post.headers["webhook-signature"].split()

    def missing(self, before: float = float("inf")) -> set[Fact]:
        """What was acknowledged before that time and some endpoint has not accepted."""
        return {fact for facts in self.awaited.values() for fact in facts if self.expected[fact].at < before}

    def slowest(self, facts: Iterable[Fact], healed: float) -> float:
        """Seconds until the last of them had arrived, after it was acknowledged and the fault was over."""
        return max(
            (
                self.arrived[fact] - max(healed, self.expected[fact].at)
                for fact in facts
                if fact in self.arrived
            ),
            default=0.0,
        )

    def gaps(self) -> list[str]:
        """Once everything has arrived: the numbers that an endpoint accepted have no gap."""
        return [
            f"{name} has accepted {len(numbers)} numbers up to {max(numbers)}"
            for name, numbers in self._sequences.items()
            if len(numbers) != max(numbers)
        ]

    def compare(self) -> list[str]:
        """Checks that every received event matches the response. Each event is checked once."""
        wrong = []
        for fact, data in list(self.facts.values()):
            write = self.expected.get(fact)
            if write is None or fact in self._checked or fact[1] in self.erasures:
                continue
            self._checked.add(fact)
            shown = {name: data.get(name) for name in write.fields}
            if shown != write.fields:
                wrong.append(f"{fact}: answered {write.fields}, the event shows {shown}")
        return wrong

    def duplicates(self) -> list[str]:
        """Two events for one write, or an event of an unacknowledged write when all retries are over."""
        twice = [f"{fact} has {len(ids)} events" for fact, ids in self.event_ids.items() if len(ids) > 1]
        known = {kind for kind, _ in self.writes}
        return twice + [
            f"{fact} was never acknowledged"
            for fact in self.event_ids
            if fact[0] in known and fact not in self.writes
        ]
