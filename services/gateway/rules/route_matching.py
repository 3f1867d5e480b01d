"""Finds the route for a raw path, in which an encoded slash does not separate segments."""

from collections.abc import Iterable

from shared.errors import MethodNotAllowed, NotFound
from shared.routing import PREFIX, PartnerRoute

_Methods = dict[str, PartnerRoute]


class RouteTable:
    def __init__(self, routes: Iterable[PartnerRoute]) -> None:
        # (number of parts, first part) → patterns, fixed words before parameters.
        self._patterns: dict[tuple[int, bytes], list[tuple[tuple[bytes | None, ...], _Methods]]] = {}
        # The routes without parameters, found by one look.
        self._exact: dict[tuple[str, bytes], PartnerRoute] = {}
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
                self._exact[route.method, (PREFIX + route.path).encode()] = route
            rows.sort(key=lambda row: row[0].count(None))

    def find(self, method: str, raw_path: bytes) -> PartnerRoute:
        if (exact := self._exact.get((method, raw_path))) is not None:
            return exact
        if b"%" in raw_path and b"%2f" in raw_path.lower():
            # A service that decodes the path would see a different route than the one checked here.
            raise NotFound
        parts = raw_path[len(PREFIX) + 1 :].split(b"/")
        for pattern, methods in self._patterns.get((len(parts), parts[0]), ()):
            if all(
                word == part if word is not None else part for word, part in zip(pattern, parts, strict=True)
            ):
                route = methods.get(method)
                if route is None:
                    raise MethodNotAllowed(list(methods))
                return route
        raise NotFound


def _part(word: str) -> bytes | None:
    return None if word.startswith("{") else word.encode()
