"""Finds the route for a raw path. Nothing is merged, stripped or resolved; an encoded slash is no slash.

The gateway and the services use the same table, so that they find the same route for a path.
"""

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote_to_bytes

from shared.errors import MethodNotAllowed, NotFound


class Routed(Protocol):
    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=Routed)


class RouteTable(Generic[R]):
    def __init__(self, routes: Iterable[R], prefix: str) -> None:
        self._start = f"{prefix}/".encode()
        # (number of parts, first part) → patterns, fixed words before parameters.
        self._patterns: dict[tuple[int, bytes], list[tuple[tuple[bytes | None, ...], dict[str, R]]]] = {}
        # The routes without parameters, found by one look.
        self._exact: dict[tuple[str, bytes], R] = {}
        for route in routes:
            pattern = tuple(_part(word) for word in route.path.split("/")[1:])
            rows = self._patterns.setdefault((len(pattern), pattern[0] or b""), [])
            methods = next((known for other, known in rows if other == pattern), None)
            if methods is None:
                methods = {}
                rows.append((pattern, methods))
            if route.method in methods:
                raise ValueError(f"{route.method} {route.path} is in the routing table twice")
            methods[route.method] = route
            if None not in pattern:
                self._exact[route.method, (prefix + route.path).encode()] = route
            rows.sort(key=lambda row: row[0].count(None))

    def find(self, method: str, raw_path: bytes) -> R:
        if (exact := self._exact.get((method, raw_path))) is not None:
            return exact
        if not raw_path.startswith(self._start):
            raise NotFound
        parts = raw_path[len(self._start) :].split(b"/")
        if b"%" in raw_path:
            parts = [unquote_to_bytes(part) for part in parts]
            if any(b"/" in part for part in parts):
                raise NotFound
        for pattern, methods in self._patterns.get((len(parts), parts[0]), ()):
            if all(
                word == part if word is not None else part for word, part in zip(pattern, parts, strict=True)
            ):
                route = methods.get(method)
                if route is None:
                    raise MethodNotAllowed(list(methods))
                return route
        raise NotFound

    def parameters(self, route: R, raw_path: bytes) -> dict[str, str]:
        """The decoded parameters of a path for which `route` was found."""
        if "{" not in route.path:
            return {}
        parts = raw_path[len(self._start) :].split(b"/")
        return {
            word[1:-1]: unquote_to_bytes(part).decode(errors="replace")
            for word, part in zip(route.path.split("/")[1:], parts, strict=True)
            if word.startswith("{")
        }


def _part(word: str) -> bytes | None:
    return None if word.startswith("{") else word.encode()
