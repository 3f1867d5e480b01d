"""What a service's resources are called: an audit entry has ids, and people read names.

Asked for when entries are shown, never stored with them: an erased person has no name in the log either.
"""

from collections.abc import Mapping
from typing import Any

from shared.http.reads import HasDatabase
from shared.http.routes import Call, Route, Routes
from shared.wire import Body, Id

PATH = "/internal/names"


class NamesOf(Body, frozen=True, kw_only=True):
    """Ids by kind: a word of an action, such as `bookings`."""

    ids: dict[str, list[Id]]


def names_route(statements: Mapping[str, str]) -> Route[Any]:
    """For each kind the start of a statement: an id and its name, of a table `t` with a `studio_id`."""
    routes: Routes[Any] = Routes()

    @routes.add("POST", PATH, "Names for ids", internal=True, reads=True)
    async def names(service: HasDatabase, call: Call[None, NamesOf]) -> dict[str, str]:
        found: dict[str, str] = {}
        async with service.db.connection() as conn:
            for kind in call.body.ids.keys() & statements.keys():
                sql = f"{statements[kind]} WHERE t.studio_id = $1 AND t.id = ANY ($2::uuid[])"
                rows = await conn.fetch(sql, call.caller.studio_id, call.body.ids[kind])
                found |= {row[0]: row[1] for row in rows}
        return found

    return routes[0]
