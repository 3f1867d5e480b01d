"""Messages that a consumer has received but not handled yet, by queue. All queues are read in turn."""

import asyncio
from collections import deque

from aio_pika.abc import AbstractChannel, AbstractIncomingMessage

from shared.events.bus.broker import unwrap_all
from shared.events.bus.protocol import Message


class ConsumerLost(Exception):
    """The connection, a channel or a subscription is gone: start over."""


Arrived = tuple[AbstractIncomingMessage, list[Message]]


class Subscription:
    """One queue on its own channel, so that its messages can be acknowledged up to the last one handled."""

    def __init__(self, name: str, channel: AbstractChannel, inbox: "Inbox") -> None:
        self.name = name
        self.channel = channel
        self.arrived: deque[Arrived] = deque()
        self._inbox = inbox

    async def receive(self, message: AbstractIncomingMessage) -> None:
        self.arrived.append((message, unwrap_all(message)))
        self._inbox.something.set()


Taken = list[tuple[Subscription, list[Arrived]]]


class Inbox:
    def __init__(self) -> None:
        self.subscriptions: dict[str, Subscription] = {}
        self.something = asyncio.Event()
        self._lost = False

    def lose(self, *_: object) -> None:
        self._lost = True
        self.something.set()

    def take(self, limit: int) -> Taken:
        """The oldest messages of each queue, in equal shares: a long queue does not delay a short one.

        Those of a batch are taken together, so there may be a few more than `limit`.
        """
        if self._lost:
            raise ConsumerLost("the channel was closed")
        self.something.clear()
        full = [one for one in self.subscriptions.values() if one.arrived]
        taken: Taken = []
        for place, one in enumerate(sorted(full, key=lambda one: len(one.arrived))):
            share = max(1, limit // (len(full) - place))
            arrived: list[Arrived] = []
            count = 0
            while one.arrived and count < min(share, limit):
                arrived.append(one.arrived.popleft())
                count += len(arrived[-1][1])
            limit -= count
            if arrived:
                taken.append((one, arrived))
        if any(one.arrived for one in full):
            self.something.set()
        return taken
