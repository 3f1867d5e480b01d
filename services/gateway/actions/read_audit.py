"""The audit log as people read it: with names, looked up when it is shown and never stored in it."""

import asyncio
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Final

from services.gateway.context import OperatorContext
from services.gateway.store import audit_log
from services.gateway.wire.request import AuditEntry, AuditQuery
from shared.errors import DomainError
from shared.http.names import PATH
from shared.http.pages import Page
from shared.wire import is_id

_RULES: Final = Path(__file__).parents[1] / "rules"
SENTENCES: Final = tomllib.loads((_RULES / "audit_sentences.toml").read_text("utf-8"))
_NO_NAMES = ("new", "all")
# Whose resources a service has, by the last word of an action that names one.
OWNERS: Final = {
    **dict.fromkeys(("bookings", "classes", "members", "memberships", "purchases", "waitlist"), "bookings"),
    **dict.fromkeys(("forms", "leads", "submissions"), "forms"),
    **dict.fromkeys(("webhook-endpoints", "webhook-deliveries"), "webhooks"),
}


async def read_audit(
    context: OperatorContext, studio_id: str | None, query: AuditQuery, request_id: str
) -> Page[AuditEntry]:
    async with context.db.connection() as conn:
        page = await audit_log.page(conn, studio_id, query)
        names = await audit_log.own_names(conn, [entry.target for entry in page.data if is_id(entry.target)])
    wanted: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for entry in page.data:
        kind = next((word for word in reversed(entry.action.split(".")) if word in OWNERS), "")
        if entry.studio_id and kind and is_id(entry.target):
            wanted[OWNERS[kind], entry.studio_id][kind].append(entry.target)
    found = await asyncio.gather(*(_names(context, *place, ids, request_id) for place, ids in wanted.items()))
    for one in found:
        names |= one
    for entry in page.data:
        known = None if is_id(entry.target) or entry.target in _NO_NAMES else entry.target
        entry.target_name = names.get(entry.target, known)
        did, unnamed = SENTENCES.get(entry.action, (f"{entry.action} {{}}", ""))
        entry.sentence = f"{entry.actor_name} {did.format(entry.target_name or unnamed)}"
    return page


async def _names(
    context: OperatorContext, owner: str, studio_id: str, ids: dict[str, list[str]], request_id: str
) -> dict[str, str]:
    """None if the service is away: the log is worth more than its names."""
    try:
        return await context.ask(
            dict[str, str], owner, "POST", PATH, request_id=request_id, studio_id=studio_id, body={"ids": ids}
        )
    except DomainError:
        return {}
