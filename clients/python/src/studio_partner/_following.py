"""`client.events.follow`: every event once, in order, by long polling."""

# pyright: reportPrivateUsage=false

import math
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

from ._errors import ResyncNeeded
from ._exchange import Exchange, Operation
from ._http import AsyncioClient, BlockingClient
from .errors import EventsExpiredError
from .events import Event, EventKind, EventPage, read_event_page

LIST_EVENTS: Final = Operation("GET", read_event_page)
# Seconds that the API holds a request for which there is no event yet.
WAIT: Final = 20
PAGE_SIZE: Final = 200
# A restore from a backup moves the sequence forward by at least this.
JUMP: Final = 1_000_000


class _Following:
    """`position` is the sequence of the newest event that was given out, or a later one up to which there was
    none to give. Store it with what you do with the events, and follow from it the next time.
    """

    def __init__(self, after_sequence: int, type: EventKind | None, wait: int) -> None:
        self.position = after_sequence
        self._type = type
        self._wait = wait
        self._connected = False

    def _poll(self, client: BlockingClient | AsyncioClient) -> Exchange[EventPage]:
        query: dict[str, Any] = {"after_sequence": self.position, "limit": PAGE_SIZE, "wait": self._wait}
        if self._type is not None:
            query["type"] = self._type
        # Once it has worked, an outage is waited for, however long it is.
        retries = math.inf if self._connected else None
        try:
            page = yield from client._exchange(LIST_EVENTS, "/events", query, retries=retries)
        except EventsExpiredError as expired:
            raise ResyncNeeded(int(expired.details.get("oldest_sequence", 0)), "expired") from expired
        self._connected = True
        if not page.data:
            self._advance(page.latest_sequence, page)
        return page

    def _advance(self, sequence: int, page: EventPage) -> None:
        if not 0 <= sequence - self.position < JUMP:
            raise ResyncNeeded(page.oldest_sequence, "jump")
        self.position = sequence


class Following(_Following):
    """An iterator of events that has no end: leave it with `break`. After an error the next loop goes on."""

    def __init__(
        self, client: BlockingClient, after_sequence: int, type: EventKind | None, wait: int
    ) -> None:
        super().__init__(after_sequence, type, wait)
        self._client = client
        self._events = self._all(client)

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        try:
            return next(self._events)
        except BaseException:
            # A generator that has raised is at its end. The next one goes on from `position`.
            self._events = self._all(self._client)
            raise

    def _all(self, client: BlockingClient) -> Iterator[Event]:
        while True:
            page = client._run(self._poll(client))
            for event in page.data:
                self._advance(event.sequence, page)
                yield event


class AsyncFollowing(_Following):
    """An asynchronous iterator of events that has no end: leave it with `break`. After an error the next loop
    goes on.
    """

    def __init__(self, client: AsyncioClient, after_sequence: int, type: EventKind | None, wait: int) -> None:
        super().__init__(after_sequence, type, wait)
        self._client = client
        self._events = self._all(client)

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        try:
            return await anext(self._events)
        except BaseException:
            # Also after a time-out around it.
            self._events = self._all(self._client)
            raise

    async def _all(self, client: AsyncioClient) -> AsyncIterator[Event]:
        while True:
            page = await client._run(self._poll(client))
            for event in page.data:
                self._advance(event.sequence, page)
                yield event


class Events:
    """`client.events`"""

    def __init__(self, client: BlockingClient) -> None:
        self._client = client

    def follow(self, after_sequence: int, *, type: EventKind | None = None, wait: int = WAIT) -> Following:
        """Every event after this sequence once, in order, for as long as you ask for the next.

        Begin with `latest_sequence` of `list_events(limit=1)`, or where the last run ended. Raises ResyncNeeded
        if events are missing.
        """
        return Following(self._client, after_sequence, type, wait)


class AsyncEvents:
    """`client.events`"""

    def __init__(self, client: AsyncioClient) -> None:
        self._client = client

    def follow(
        self, after_sequence: int, *, type: EventKind | None = None, wait: int = WAIT
    ) -> AsyncFollowing:
        """Every event after this sequence once, in order, for as long as you ask for the next.

        Begin with `latest_sequence` of `list_events(limit=1)`, or where the last run ended. Raises ResyncNeeded
        if events are missing.
        """
        return AsyncFollowing(self._client, after_sequence, type, wait)
