"""Route import lines to the services that own them. A line counts once all of them have committed."""

import asyncio
from collections import defaultdict
from typing import Final

import msgspec
from msgspec import Struct

from services.gateway.actions.import_studios import save_studio, validate_studios
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.wire.studio import StudioLine
from shared.errors import Unavailable
from shared.http.importing import BATCH, ImportLine, ImportReport, Rejected
from shared.wire import encode

# The services that store each kind of resource. A line goes to all of them.
OWNERS: Final[dict[str, tuple[str, ...]]] = {
    "studio": ("catalog", "bookings", "forms"),
    "location": ("catalog", "bookings"),
    "product": ("catalog", "bookings"),
    "room": ("catalog",),
    "class_type": ("catalog",),
    "instructor": ("catalog",),
    "class": ("bookings",),
    "class_spot": ("bookings",),
    "member": ("bookings",),
    "membership": ("bookings",),
    "purchase": ("bookings",),
    "booking": ("bookings",),
    "waitlist": ("bookings",),
    "form": ("forms",),
    "form_submission": ("forms",),
    "lead": ("forms",),
}
BATCH_BYTES: Final = 8 * 1024 * 1024


class _Head(Struct):
    """The fields of a line that the gateway reads; its owner validates the rest."""

    object: str
    id: str | None = None
    studio_id: str | None = None


# Nested as deeply as in the batch, so that a line that decodes here also decodes in the service.
_head = msgspec.json.Decoder(list[list[_Head]])
_BOM = b"\xef\xbb\xbf"


class ImportBatch:
    """Collects lines and sends them in batches. `imported` and `rejected` grow with each batch."""

    def __init__(
        self,
        context: OperatorContext,
        request_id: str,
        studio: str | None = None,
        *,
        send_events: bool = True,
    ) -> None:
        self._context = context
        self._request_id = request_id
        self._path = f"/internal/import?send_events={str(send_events).lower()}"
        self._studio = None if studio is None else studio.lower()
        self._lines: list[tuple[tuple[str, ...], ImportLine]] = []
        self._bytes = 0
        self._known_studios: dict[str, str] | None = None
        self.imported = 0
        self.rejected: list[Rejected] = []

    @property
    def full(self) -> bool:
        return len(self._lines) >= BATCH or self._bytes >= BATCH_BYTES

    def add(self, number: int, text: bytes) -> None:
        text = text.removeprefix(_BOM)
        try:
            decoded = _head.decode(b"[[" + text + b"]]")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
            self.rejected.append(Rejected(number, f"The line is no usable JSON object: {problem}"))
            return
        # `{…},{…}` and `{…}],[{…}` are valid inside the brackets that were added, but not one object.
        if len(decoded) != 1 or len(decoded[0]) != 1:
            self.rejected.append(Rejected(number, "The line must hold exactly one JSON object."))
            return
        head = decoded[0][0]
        owners = OWNERS.get(head.object)
        if owners is None:
            known = ", ".join(OWNERS)
            reason = f"object {head.object[:100]!r} cannot be imported; there are {known}."
            self.rejected.append(Rejected(number, reason))
            return
        studio = head.id if head.object == "studio" else head.studio_id or self._studio
        if studio is None:
            self.rejected.append(Rejected(number, "The line names no studio_id, and no studio was given."))
            return
        self._lines.append((owners, ImportLine(number, studio.lower(), msgspec.Raw(text))))
        self._bytes += len(text)

    async def flush(self) -> None:
        """Studios first, in every service, then the rest, because a line must name a known studio."""
        lines, self._lines, self._bytes = self._lines, [], 0
        refused: dict[int, Rejected] = {}
        known = await self._studios()
        studio_lines = [line for owners, line in lines if owners is OWNERS["studio"]]
        if studio_lines:
            await self._import_studios(studio_lines, known, refused)
        shares: dict[str, list[ImportLine]] = defaultdict(list)
        for owners, line in lines:
            if owners is OWNERS["studio"]:
                continue
            studio_id = known.get(line.studio_id)
            if studio_id is None:
                refused[line.number] = Rejected(line.number, f"The studio {line.studio_id!r} is not known.")
                continue
            if self._studio is not None and studio_id != known.get(self._studio):
                refused[line.number] = self._wrong_studio(line)
                continue
            line.studio_id = studio_id
            for owner in owners:
                shares[owner].append(line)
        await self._send_shares(shares, refused)
        self.imported += len(lines) - len(refused)
        self.rejected += sorted(refused.values(), key=lambda row: row.line)

    async def _import_studios(
        self, lines: list[ImportLine], known: dict[str, str], refused: dict[int, Rejected]
    ) -> None:
        """A studio's line is valid whole; our own copy is kept once every service has taken theirs."""
        valid = await validate_studios(self._context.db, lines, refused)
        good = [line for line in lines if line.number in valid]
        for line in good:
            if not self._may_import(valid[line.number], known):
                refused[line.number] = self._wrong_studio(line)
        good = [line for line in good if line.number not in refused]
        await self._send_shares(dict.fromkeys(OWNERS["studio"], good) if good else {}, refused)
        for line in good:
            if line.number in refused:
                continue
            if reason := await save_studio(self._context.db, valid[line.number]):
                refused[line.number] = Rejected(line.number, reason)
                continue
            studio = valid[line.number]
            known |= {name: studio.id for name in (studio.id, studio.slug) if name}

    def _may_import(self, studio: StudioLine, known: dict[str, str]) -> bool:
        """With `--studio` a file may change that studio, or create it, but never touch another one."""
        if self._studio is None:
            return True
        if self._studio in known:
            return studio.id == known[self._studio]
        return studio.id not in known and self._studio in (studio.id, studio.slug)

    def _wrong_studio(self, line: ImportLine) -> Rejected:
        reason = f"The line names the studio {line.studio_id!r}, but the import is for {self._studio!r}."
        return Rejected(line.number, reason)

    async def _send_shares(self, shares: dict[str, list[ImportLine]], refused: dict[int, Rejected]) -> None:
        reports = await asyncio.gather(*(self._send_share(owner, share) for owner, share in shares.items()))
        for rejected in (row for report in reports for row in report.rejected):
            refused.setdefault(rejected.line, rejected)

    async def _studios(self) -> dict[str, str]:
        """Slug or id → id."""
        if self._known_studios is None:
            async with self._context.db.connection() as conn:
                rows = await studios.all_of(conn)
            self._known_studios = {name: row.id for row in rows for name in (row.id, row.slug) if name}
        return self._known_studios

    async def _send_share(self, owner: str, share: list[ImportLine]) -> ImportReport:
        answer = await self._context.call_service(
            owner, "POST", self._path, request_id=self._request_id, body=encode(share)
        )
        body = answer.body
        if answer.stream is not None:
            body += b"".join([part async for part in answer.stream])
        if answer.status != 200:
            raise Unavailable(f"The {owner} service answered {answer.status} to an import; import again.")
        return msgspec.json.decode(body, type=ImportReport)
