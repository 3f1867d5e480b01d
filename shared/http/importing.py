"""The part of the import that every service shares: bulk writes, with each bad line reported."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

import asyncpg
import msgspec
from msgspec import Struct

from shared.db.database import Connection, Database
from shared.errors import Invalid
from shared.http.body_problems import value_problems
from shared.http.decoding import lower_ids
from shared.http.json_limits import nul_problems, refuse_depth, unreadable_values

T = TypeVar("T")
BATCH = 1000
_NOT_PRESENT = re.compile(
    r'Key \((?:studio_id, )?([^)]+)\)=\((?:[^,)]+, )?([^)]+)\) is not present in table "(\w+)"'
)
_TAKEN = re.compile(r"Key \((?:studio_id, )?([^)]+)\)=\((?:[^,)]+, )?([^)]+)\) already exists")


class ImportLine(Struct):
    """One line of the file: its number, its studio, and the resource as it was written."""

    number: int
    studio_id: str
    resource: msgspec.Raw


class Rejected(Struct):
    line: int
    reason: str


class ImportReport(Struct):
    imported: int
    rejected: list[Rejected]


class Decoded(Struct, Generic[T]):
    number: int
    studio_id: str
    value: T


def decode_line(kind: Any, line: ImportLine) -> Decoded[Any] | Rejected:
    raw = bytes(line.resource)
    try:
        refuse_depth(raw, ("line",))
        value = msgspec.json.decode(raw, type=kind)
        problems = nul_problems(msgspec.json.decode(raw), ()) if b"\\u0000" in raw else []
        problems += value_problems(value, ())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        _, faults = unreadable_values(raw, ())
        return Rejected(line.number, Invalid(faults).text if faults else str(problem))
    except Invalid as problem:
        return Rejected(line.number, problem.text)
    if problems:
        return Rejected(line.number, Invalid(problems).text)
    return Decoded(line.number, line.studio_id, lower_ids(value))


def usable_lines(
    kind: Any, lines: Sequence[ImportLine], refusal: Callable[[Any], str | None]
) -> tuple[list[Decoded[Any]], list[Rejected]]:
    """`refusal` returns why a decoded value cannot be used, or None."""
    usable: list[Decoded[Any]] = []
    rejected: list[Rejected] = []
    for line in lines:
        decoded = decode_line(kind, line)
        if not isinstance(decoded, Rejected) and (reason := refusal(decoded.value)):
            decoded = Rejected(line.number, reason)
        if isinstance(decoded, Rejected):
            rejected.append(decoded)
        else:
            usable.append(decoded)
    return usable, rejected


async def changed_lines(
    db: Database,
    lines: Sequence[Decoded[T]],
    changed: Callable[[Connection, Sequence[Decoded[T]]], Awaitable[Sequence[int]]],
) -> Sequence[Decoded[T]]:
    """Without the lines that would change nothing. `changed` compares in the database and returns indexes.

    Two lines with the same id are both kept, because the first is not written yet when they are compared.
    Values that the comparison cannot read are left to the write, which reports the line.
    """
    if not lines:
        return lines
    try:
        async with db.connection() as conn:
            places = set(await changed(conn, lines))
    except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError):
        return lines
    ids = Counter((line.studio_id, _id_of(line.value)) for line in lines)
    return [
        line
        for place, line in enumerate(lines)
        if place in places or ids[line.studio_id, _id_of(line.value)] > 1
    ]


def _id_of(value: Any) -> Any:
    return value["id"] if isinstance(value, dict) else value.id


Write = Callable[[Connection, Sequence[Decoded[T]]], Awaitable[None]]


async def apply_batch(db: Database, lines: Sequence[Decoded[T]], write: Write[T]) -> list[Rejected]:
    """All lines in one transaction. A refused batch is bisected until the bad lines are isolated."""
    async with db.transaction() as conn:
        return await apply_lines(conn, lines, write)


async def apply_lines(conn: Connection, lines: Sequence[Decoded[T]], write: Write[T]) -> list[Rejected]:
    """The same in the caller's transaction, for lines that must take effect together."""
    rejected: list[Rejected] = []
    await _apply(conn, lines, write, rejected)
    return rejected


async def _apply(
    conn: Connection, lines: Sequence[Decoded[T]], write: Write[T], rejected: list[Rejected]
) -> None:
    if not lines:
        return
    try:
        async with conn.transaction():
            await write(conn, lines)
        return
    except (
        asyncpg.IntegrityConstraintViolationError,
        asyncpg.DataError,
        asyncpg.CardinalityViolationError,
    ) as problem:
        if len(lines) == 1:
            rejected.append(Rejected(lines[0].number, reason_of(problem)))
            return
    middle = len(lines) // 2
    await _apply(conn, lines[:middle], write, rejected)
    await _apply(conn, lines[middle:], write, rejected)


def reason_of(problem: Any) -> str:
    """A sentence for the author of the file, made from the database's error."""
    detail = getattr(problem, "detail", None) or ""
    if found := _NOT_PRESENT.search(detail):
        return f"{found[1]} names {found[2]}, which is not among the studio's {found[3]}."
    if found := _TAKEN.search(detail):
        return f"{found[1]} {found[2]} is already taken by another row."
    if hint := getattr(problem, "hint", None):
        return str(hint)
    if isinstance(problem, asyncpg.CheckViolationError):
        return f"A value is out of its range ({getattr(problem, 'constraint_name', 'check')})."
    if isinstance(problem, asyncpg.NotNullViolationError):
        return f"{getattr(problem, 'column_name', 'A field')} must not be null."
    if isinstance(problem, asyncpg.CardinalityViolationError):
        return "The line contains an id twice."
    return "The database refuses a value of this line."
