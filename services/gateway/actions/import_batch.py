"""Route import lines to the services that own them. A line counts once all of them have committed."""

import asyncio
from collections import defaultdict
from functools import partial
from typing import Final

from services.gateway.actions.import_lines import OWNERS, read_import_line, save_studio, validate_studios
from services.gateway.context import OperatorContext
from services.gateway.store import studios
from services.gateway.wire.studio import StudioLine
from shared.errors import Invalid, Problem
from shared.transfer.lines import BATCH, ImportLine, ImportReport, Rejected

BATCH_BYTES: Final = 8 * 1024 * 1024
# A dry run stores nothing that the next batch could refer to, so it cannot be divided.
DRY_RUN_LINES: Final = 10 * BATCH
DRY_RUN_BYTES: Final = 4 * BATCH_BYTES
# Nobody needs a longer list; `rejected_count` has the total.
MAX_LISTED: Final = 10_000


class ImportBatch:
    """Collects lines and sends them in batches. `imported`, `studio_ids` and `rejected` grow with each batch.

    In a dry run the services check the lines and store nothing. Lines with a number below 1 were checked
    before: others may refer to their ids, and they are neither counted nor reported.
    """

    def __init__(
        self,
        context: OperatorContext,
        request_id: str,
        studio: str | None = None,
        *,
        dry_run: bool = False,
        send_events: bool = True,
    ) -> None:
        self._context = context
        self._request_id = request_id
        import_path = f"/internal/import?send_events={str(send_events).lower()}"
        self._path = "/internal/import/check" if dry_run else import_path
        self._studio = None if studio is None else studio.lower()
        self._dry_run = dry_run
        self._lines: list[tuple[str, ImportLine]] = []
        self._bytes = 0
        self._known_studios: dict[str, str] | None = None
        self.imported = 0
        self.studio_ids: set[str] = set()
        self.rejected_count = 0
        self.rejected: list[Rejected] = []

    @property
    def full(self) -> bool:
        return not self._dry_run and (len(self._lines) >= BATCH or self._bytes >= BATCH_BYTES)

    def add(self, number: int, text: bytes) -> None:
        line = read_import_line(number, text, self._studio)
        if isinstance(line, Rejected):
            self.reject(line)
            return
        self._lines.append(line)
        self._bytes += len(text)
        if self._dry_run and (len(self._lines) > DRY_RUN_LINES or self._bytes > DRY_RUN_BYTES):
            limit = f"A request with dry_run may have at most {DRY_RUN_LINES:,} lines and 32 MiB."
            raise Invalid([Problem(("body",), limit, "too_long")])

    def reject(self, line: Rejected) -> None:
        if line.line >= 1:
            self.rejected_count += 1
            self.rejected += [line] if len(self.rejected) < MAX_LISTED else []

    async def flush(self) -> None:
        """Studios first, in every service, then the rest, because a line's studio must exist."""
        lines, self._lines, self._bytes = self._lines, [], 0
        refused: dict[int, Rejected] = {}
        known = await self._studios()
        shares: dict[str, list[ImportLine]] = defaultdict(list)
        studio_lines = [line for kind, line in lines if kind == "studio"]
        if studio_lines:
            await self._import_studios(studio_lines, known, refused, shares)
        for kind, line in lines:
            if kind == "studio":
                continue
            studio_id = known.get(line.studio_id)
            if studio_id is None:
                refused[line.number] = Rejected(line.number, f"The studio {line.studio_id!r} is not known.")
                continue
            if self._studio is not None and studio_id != known.get(self._studio):
                refused[line.number] = self._wrong_studio(line)
                continue
            line.studio_id = studio_id
            for owner in OWNERS[kind]:
                shares[owner].append(line)
        await self._send_shares(shares, refused)
        self.studio_ids |= {line.studio_id for _, line in lines if line.number not in refused}
        self.imported += sum(line.number >= 1 and line.number not in refused for _, line in lines)
        for number in sorted(refused):
            self.reject(refused[number])

    async def _import_studios(
        self,
        lines: list[ImportLine],
        known: dict[str, str],
        refused: dict[int, Rejected],
        shares: dict[str, list[ImportLine]],
    ) -> None:
        """A studio line is validated first. We store our own copy once every service has stored its own."""
        valid = await validate_studios(self._context.db, lines, refused)
        good = [line for line in lines if line.number in valid]
        for line in good:
            if not self._may_import(valid[line.number], known):
                refused[line.number] = self._wrong_studio(line)
        good = [line for line in good if line.number not in refused]
        if self._dry_run:
            # Sent with the lines that refer to them: the next request would not find them.
            for owner in OWNERS["studio"]:
                shares[owner] += good
        else:
            await self._send_shares(dict.fromkeys(OWNERS["studio"], good) if good else {}, refused)
        for line in good:
            if line.number in refused:
                continue
            studio = valid[line.number]
            if not self._dry_run and (reason := await save_studio(self._context.db, studio)):
                refused[line.number] = Rejected(line.number, reason)
                continue
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
        """The catalog first: no other service stores a line that it refuses or whose references it lacks."""
        for owners in (("catalog",), ("bookings", "forms")):
            wanted = {
                owner: [line for line in shares.get(owner, ()) if line.number not in refused]
                for owner in owners
            }
            ask = partial(self._context.ask, ImportReport, request_id=self._request_id)
            reports = await asyncio.gather(
                *(ask(owner, "POST", self._path, body=share) for owner, share in wanted.items() if share)
            )
            for rejected in (row for report in reports for row in report.rejected):
                refused.setdefault(rejected.line, rejected)

    async def _studios(self) -> dict[str, str]:
        """Slug or id → id."""
        if self._known_studios is None:
            async with self._context.db.connection() as conn:
                rows = await studios.all_of(conn)
            self._known_studios = {name: row.id for row in rows for name in (row.id, row.slug) if name}
        return self._known_studios
