"""Messages that a consumer has received but not handled yet, by queue. All queues are read in turn."""

import asyncio
import heapq
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
        self.served = 0
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
        self._round = 0

    def lose(self, *_: object) -> None:
        self._lost = True
        self.something.set()

    def check(self) -> None:
        if self._lost:
            raise ConsumerLost("the channel was closed")

    def take(self, limit: int) -> Taken:
        """The oldest messages of each queue, in equal shares: a long queue does not delay a short one. Queues
        that got nothing come first the next time.

        Those of a batch are taken together, so there may be a few more than `limit`.
        """
        self.check()
        self.something.clear()
        places = enumerate(self.subscriptions.values())
        # By how many messages were taken so far, then by who has waited longest.
        waiting = [(0, one.served, place, one) for place, one in places if one.arrived]
        heapq.heapify(waiting)
        taken: dict[int, tuple[Subscription, list[Arrived]]] = {}
        while waiting and limit > 0:
            count, served, place, one = waiting[0]
            arrived = one.arrived.popleft()
            taken.setdefault(place, (one, []))[1].append(arrived)
            size = len(arrived[1])
            limit -= size
            if one.arrived:
                heapq.heapreplace(waiting, (count + size, served, place, one))
            else:
                heapq.heappop(waiting)
        self._round += 1
        for one, _ in taken.values():
            one.served = self._round
        if waiting:
            self.something.set()
        return list(taken.values())
