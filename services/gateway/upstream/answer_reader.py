"""Parses answers with httptools, for one connection. The body is not inspected."""

from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

HEAD_LIMIT: Final = 64 * 1024
_FRAMED: Final = frozenset({b"content-length", b"transfer-encoding"})


class BrokenAnswer(Exception):
    pass


class AnswerReader:
    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self.begin(head_only=False)

    def begin(self, *, head_only: bool) -> None:
        self._head_only = head_only
        self._head_size = 0
        self._parts: list[bytes] = []
        self.headers: list[tuple[bytes, bytes]] = []
        self.size = 0  # of the body so far
        self.status = 0  # until the head is complete
        self.complete = False
        self.keep_alive = False

    def feed(self, data: bytes) -> None:
        if not self.status:
            self._head_size += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self.keep_alive = False
            if not self.complete:  # otherwise only what follows the answer is broken
                raise BrokenAnswer from error
        if self._head_size > HEAD_LIMIT and self._head_is_too_large():
            raise BrokenAnswer

    def take_body(self) -> bytes:
        parts, self._parts = self._parts, []
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def ends_with_connection(self) -> bool:
        return self.status != 0 and not any(name in _FRAMED for name, _ in self.headers)

    def _head_is_too_large(self) -> bool:
        # One read may bring a small head and much body: with the head complete, count what is in it.
        return not self.status or sum(len(name) + len(value) for name, value in self.headers) > HEAD_LIMIT

    # -- called by the parser

    def on_message_begin(self) -> None:
        if self.complete:
            raise BrokenAnswer  # a second answer to one request

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.status:  # after the head these are trailers, which are not passed on
            self.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self.headers.clear()
            return
        self.status = status
        # The parser does not know that an answer to HEAD has no body and waits for one, so the connection is
        # closed.
        self.complete = self._head_only

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        self.size += len(body)

    def on_message_complete(self) -> None:
        if self.status:  # 1xx come before the answer
            self.complete = True
            self.keep_alive = self._parser.should_keep_alive()
