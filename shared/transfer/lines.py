"""Import lines: how one is written, read, and refused in a sentence for the author of the file."""

import re
from collections.abc import Sequence
from typing import Any, Final

import asyncpg
import msgspec
from msgspec import Struct

from shared.errors import Invalid
from shared.http.body_problems import problem_at, value_problems
from shared.http.decoding import lower_ids
from shared.http.json_limits import nul_problems, refuse_depth, unreadable_values
from shared.wire import Id

BATCH: Final = 1000
_NOT_PRESENT = re.compile(
    r'Key \((?:studio_id, )?([^)]+)\)=\((?:[^,)]+, )?([^)]+)\) is not present in table "(\w+)"'
)
_TAKEN = re.compile(r"Key \((?:studio_id, )?([^)]+)\)=\((?:[^,)]+, )?([^)]+)\) already exists")


class ImportLine(Struct):
    """One line of the file: its number, its studio, and the resource as it was written.

    In a dry run, a number below 1 is that of a line that was checked before. Others may refer to it.
    """

    number: int
    studio_id: str
    resource: msgspec.Raw


Row = dict[str, Any]
Rows = Sequence[Row]


class Line(Struct, frozen=True):
    """A line that can be read: its struct, and the row to store, with the studio that the operator named."""

    number: int
    studio_id: str
    value: Any
    row: Row

    @property
    def key(self) -> tuple[str, str]:
        return self.studio_id, self.row["id"]


class Rejected(Struct):
    line: int
    reason: str


class ImportReport(Struct):
    imported: int
    rejected: list[Rejected]


class Earlier(Struct):
    """A line of a dry run that was checked in an earlier request: later ones may refer to its id."""

    object: str
    id: Id
    timezone: str | None = None


def read_earlier_line(line: ImportLine) -> Earlier | None:
    """None for a line without a kind and an id, to which nothing can refer."""
    try:
        return lower_ids(msgspec.json.decode(line.resource, type=Earlier))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def decode_line(kind: Any, line: ImportLine) -> Any:
    """The line as a struct. Raises ValueError with the reason."""
    raw = bytes(line.resource)
    try:
        refuse_depth(raw, ("line",))
        value = msgspec.json.decode(raw, type=kind)
        problems = nul_problems(msgspec.json.decode(raw), ()) if b"\\u0000" in raw else []
        problems += value_problems(value, ())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        _, faults = unreadable_values(raw, ())
        if not faults and isinstance(problem, msgspec.ValidationError):
            faults = [problem_at(problem, ())]
        raise ValueError(Invalid(faults).text if faults else str(problem)) from None
    except Invalid as problem:
        raise ValueError(problem.text) from None
    if problems:
        raise ValueError(Invalid(problems).text)
    return lower_ids(value)


def kind_of(line: type[Struct]) -> str:
    """The `object` of its lines."""
    return str(line.__struct_config__.tag)


def unknown_reference(field: str, id_: str, table: str) -> str:
    return f"{field} names {id_}, which is not among the studio's {table}."


def already_taken(field: str, value: object) -> str:
    return f"{field} {value} is already taken by another row."


def reason_of(problem: Any) -> str:
    """From the database's error, for what no check has found before."""
    detail = getattr(problem, "detail", None) or ""
    if found := _NOT_PRESENT.search(detail):
        return unknown_reference(found[1], found[2], found[3])
    if found := _TAKEN.search(detail):
        return already_taken(found[1], found[2])
    if isinstance(problem, asyncpg.CheckViolationError):
        return f"A value is out of its range ({getattr(problem, 'constraint_name', 'check')})."
    if isinstance(problem, asyncpg.NotNullViolationError):
        return f"{getattr(problem, 'column_name', 'A field')} must not be null."
    if isinstance(problem, asyncpg.CardinalityViolationError):
        return "The line contains an id twice."
    return "The database refuses a value of this line."
