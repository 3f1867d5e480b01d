"""Old code keeps running during and after a migration: this test refuses what would break it.

The rule, and how a column is renamed or dropped over two releases, is in docs/operating/upgrade-and-
restore.md. A statement that is safe after all is marked in the comment above it: `-- old code survives:
<why>`. Functions live in services/<name>/functions: their signatures stay as they are, and none is dropped
while old code may call it.
"""

import re
from pathlib import Path

import pytest

from shared.db.migrate import function_files, migration_files
from shared.settings import SERVICES

MARK = "old code survives:"
BREAKING = {
    "drops what old code reads or writes": r"\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION|SCHEMA|TYPE|DEFAULT)\b",
    "renames what old code names": r"\bRENAME\s+(TO|COLUMN|CONSTRAINT)\b",
    "changes a column's type": r"\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b",
    "demands what old code does not give": r"\bSET\s+NOT\s+NULL\b",
    "adds what old code does not fill": r"\bADD\s+(COLUMN\s+)?\w+\s+(?!.*\bDEFAULT\b)[^,]*\bNOT\s+NULL\b",
    "empties a table": r"\bTRUNCATE\b",
}
_BODY = re.compile(r"\$(\w*)\$.*?\$\1\$", re.DOTALL)


def breaking(sql: str) -> list[str]:
    """What old code would not survive, statement by statement."""
    found = []
    for statement in _BODY.sub("''", sql).split(";"):
        code = re.sub(r"--[^\n]*", "", statement)
        if MARK in statement or re.match(
            r"\s*CREATE\s+(OR\s+REPLACE\s+)?(TABLE|FUNCTION|TYPE)\b", code, re.I
        ):
            continue
        found += [why for why, pattern in BREAKING.items() if re.search(pattern, code, re.I | re.DOTALL)]
    return found


FILES = sorted({path for service in SERVICES for _, path in migration_files(service)})


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_a_migration_leaves_old_code_running(path: Path) -> None:
    """During a rollout both versions use the new schema."""
    assert breaking(path.read_text()) == []


FUNCTION_FILES = [(service, file) for service in SERVICES for file in function_files(service)]
# Written before there was a functions folder; `start_booking` is for versions before batched bookings.
FROM_MIGRATIONS = {"0002", "0003", "0005", "0006", "0007", "0008", "0009", "0010", "0012"}
OLD_CODE_ONLY = {"start_booking"}
_DEFINED = re.compile(r"^CREATE\s+(?:OR\s+REPLACE\s+)?FUNCTION\s+(\w+)", re.I | re.M)


@pytest.mark.parametrize(
    "sql",
    [pytest.param(file.sql, id=f"{service}/{file.name}") for service, file in FUNCTION_FILES],
)
def test_a_function_file_only_creates_or_replaces(sql: str) -> None:
    """It can be applied again at any time, and takes nothing away from old code."""
    assert breaking(sql) == []
    code = re.sub(r"--[^\n]*", "", _BODY.sub("''", sql))
    for statement in filter(None, map(str.strip, code.split(";"))):
        assert re.match(r"CREATE\s+OR\s+REPLACE\s+(FUNCTION|TRIGGER)\b", statement, re.I), statement


@pytest.mark.parametrize("service", SERVICES)
def test_every_function_has_its_current_definition_in_the_functions_folder(service: str) -> None:
    """One place to read it. A function that a migration needs for a trigger or a column is in both."""
    current = {name for file in function_files(service) for name in _DEFINED.findall(file.sql)}
    for _, path in migration_files(service):
        defined = set(_DEFINED.findall(path.read_text()))
        assert defined <= current | OLD_CODE_ONLY
        if service == "bookings" and defined:
            assert path.name[:4] in FROM_MIGRATIONS, "put the function into functions/ instead"


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE members DROP COLUMN phone;",
        "ALTER TABLE members RENAME COLUMN phone TO telephone;",
        "ALTER TABLE members RENAME TO people;",
        "ALTER TABLE members ALTER COLUMN phone TYPE integer;",
        "ALTER TABLE members ALTER COLUMN phone SET NOT NULL;",
        "ALTER TABLE members ADD COLUMN age integer NOT NULL;",
        "DROP TABLE members;",
        "-- old code survives: it never did this\nDROP TABLE a; DROP TABLE b;",
    ],
)
def test_what_would_break_old_code_is_found(sql: str) -> None:
    """The check can fail."""
    assert len(breaking(sql)) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE members ADD COLUMN age integer;",
        "ALTER TABLE members ADD COLUMN age integer NOT NULL DEFAULT 0;",
        "CREATE TABLE visits (id uuid NOT NULL);",
        "-- old code survives: nothing has read it since 1.2\nALTER TABLE members DROP COLUMN age;",
        "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE x; END $$;",
    ],
)
def test_what_old_code_survives_passes(sql: str) -> None:
    """Adding is always allowed."""
    assert breaking(sql) == []
