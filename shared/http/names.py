"""What a service's resources are called: an audit entry has ids, and people read names.

Asked for when entries are shown, never stored with them: an erased person has no name in the log either.
"""

from collections.abc import Mapping
from typing import Any

from shared.http.reads import HasDatabase
from shared.http.routes import Call, Route
from shared.wire import Body, Id

PATH = "/internal/names"


class NamesOf(Body, frozen=True, kw_only=True):
    """Ids by kind: the first word of an action, such as `bookings`."""

    ids: dict[str, list[Id]]


def names_route(statements: Mapping[str, str]) -> Route[Any]:
    """For each kind the start of a statement: an id and its name, of a table `t` with a `studio_id`."""

    async def names(service: HasDatabase, call: Call[None, NamesOf]) -> dict[str, str]:
        found: dict[str, str] = {}
        async with service.db.connection() as conn:
            for kind, ids in call.body.ids.items():
                if kind in statements:
                    sql = f"{statements[kind]} WHERE t.studio_id = $1 AND t.id = ANY ($2::uuid[])"
                    found |= {row[0]: row[1] for row in await conn.fetch(sql, call.caller.studio_id, ids)}
        return found

    return Route(
        method="POST",
        path=PATH,
        handler=names,
        summary="Names for ids",
        body=NamesOf,
        response=dict[str, str],
        internal=True,
        reads=True,
    )
