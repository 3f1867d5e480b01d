"""Records every acknowledged write and everything that the receivers got."""

import base64
import hashlib
import hmac
import json
import time
from collections import defaultdict
from typing import Any

from msgspec import Struct

from services.webhooks.rules.signing import signing_key
from tests.chaos.receiver import Post

# The type of a write's event, and the id of the resource.
Fact = tuple[str, str]


class Write(Struct, frozen=True):
    """An acknowledged write. `fields` are the fields of its answer that the event must have too."""

    fact: Fact
    gateway: str
    at: float
    fields: dict[str, Any]


class Ledger:
    """`problems` are corruptions as sentences; `order` is the accepted sequence of a fifo endpoint."""

    def __init__(self, endpoints: dict[str, bool]) -> None:
        self.endpoints = endpoints
        self.secrets: dict[str, str] = {}
        self.writes: dict[Fact, Write] = {}
        self.accepted: dict[str, set[Fact]] = {name: set() for name in endpoints}
        self.awaited: dict[str, set[Fact]] = {name: set() for name in endpoints}
        self.event_ids: dict[Fact, set[str]] = defaultdict(set)
        self.digests: dict[str, bytes] = {}
        self.facts: dict[str, tuple[Fact, Any]] = {}
        self.problems: list[str] = []
        # Resources that existed before: imports create events for them too.
        self.imported: set[str] = set()
        self.requests = 0
        self._last_accepted: dict[str, int] = defaultdict(int)
        self._accepted_ids: dict[str, set[str]] = defaultdict(set)
        self._checked: set[Fact] = set()

    def acknowledge(self, fact: Fact, gateway: str, fields: dict[str, Any]) -> None:
        known = self.writes.get(fact)
        if known is None:
            self.writes[fact] = Write(fact, gateway, time.monotonic(), fields)
            for name, accepted in self.accepted.items():
                if fact not in accepted:
                    self.awaited[name].add(fact)
        elif known.fields != fields:
            self.problems.append(f"{fact}: answered {known.fields}, then {fields}")

    def note(self, endpoint: str, post: Post, accepted: bool) -> None:
        """Called by the receivers, before they answer."""
        self.requests += 1
        event_id, sequence = post.headers["webhook-id"], int(post.headers["webhook-sequence"])
        digest = hashlib.sha256(post.body).digest()
        if self.digests.setdefault(event_id, digest) != digest:
            self.problems.append(f"{event_id} came with two bodies")
        if not self._is_signed(endpoint, post):
            self.problems.append(f"{event_id} came to {endpoint} with a wrong signature")
        if event_id not in self.facts:
            event = json.loads(post.body)
            fact = (event["type"], event["resource"]["id"])
            self.facts[event_id] = (fact, event["data"]["object"])
            self.event_ids[fact].add(event_id)
        if accepted:
            self._accept(endpoint, event_id, sequence)

    def _accept(self, endpoint: str, event_id: str, sequence: int) -> None:
        fact, _ = self.facts[event_id]
        self.accepted[endpoint].add(fact)
        self.awaited[endpoint].discard(fact)
        if event_id in self._accepted_ids[endpoint]:
            return
        self._accepted_ids[endpoint].add(event_id)
        if self.endpoints[endpoint] and sequence < self._last_accepted[endpoint]:
            self.problems.append(
                f"{endpoint} is fifo and got {sequence} after {self._last_accepted[endpoint]}"
            )
        self._last_accepted[endpoint] = max(sequence, self._last_accepted[endpoint])

    def _is_signed(self, endpoint: str, post: Post) -> bool:
        signed = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode() + post.body
        wanted = hmac.digest(signing_key(self.secrets[endpoint]), signed, hashlib.sha256)
        return f"v1,{base64.b64encode(wanted).decode()}" in post.headers["webhook-signature"].split()

    def missing(self, before: float = float("inf")) -> set[Fact]:
        """Writes acknowledged before that time that some endpoint has not accepted."""
        return {fact for facts in self.awaited.values() for fact in facts if self.writes[fact].at < before}

    def compare(self) -> list[str]:
        """Checks that every received event matches the answer. Each event is checked once."""
        wrong = []
        for fact, data in list(self.facts.values()):
            write = self.writes.get(fact)
            if write is None or fact in self._checked:
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
            if fact[0] in known and fact not in self.writes and fact[1] not in self.imported
        ]
