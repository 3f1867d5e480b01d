"""Tags of polled pages of classes, so that an unchanged page does not have to be built again to say so.

A page's version names its rows and the transaction that last wrote each. Equal versions mean equal pages,
and a version is much cheaper to read than a page.
"""

import time
from collections import OrderedDict
from hashlib import sha256
from typing import Final

from msgspec import Struct

from shared.http.caller import Caller

MAX_PAGES: Final = 4096
# A page is built at least this often. A version could only come back, with other rows, after a restore of the
# database or four billion transactions.
TTL_SECONDS: Final = 60.0


class TaggedPage(Struct, frozen=True):
    version: str
    tag: bytes
    expires_at: float


class PageTags:
    """The least recently polled pages are forgotten first."""

    def __init__(self) -> None:
        self._pages: OrderedDict[bytes, TaggedPage] = OrderedDict()

    def find(self, key: bytes) -> TaggedPage | None:
        page = self._pages.get(key)
        if page is None or page.expires_at < time.monotonic():
            return None
        self._pages.move_to_end(key)
        return page

    def remember(self, key: bytes, version: str, tag: bytes) -> None:
        self._pages[key] = TaggedPage(version, tag, time.monotonic() + TTL_SECONDS)
        self._pages.move_to_end(key)
        if len(self._pages) > MAX_PAGES:
            self._pages.popitem(last=False)


def page_key(caller: Caller, raw_query: bytes) -> bytes:
    """Everything that decides which rows a page has. A digest, because a query may be long."""
    locations = None if caller.location_ids is None else sorted(set(caller.location_ids))
    return sha256(repr((caller.studio_id, locations, raw_query)).encode()).digest()
