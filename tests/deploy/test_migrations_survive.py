"""Old code keeps running during and after a migration: this test refuses what would break it.

The rule begins with the first published version, a tag such as v1.0.0: before it there is no old code. It is
in docs/operating/upgrade-and-restore.md, with how a column is renamed or dropped over two releases. A
statement that is safe after all is marked in the comment above it: `-- old code survives: <why>`. Functions
live in services/<name>/functions: their signatures stay as they are, and none is dropped while old code may
call it.
"""

import re
import subprocess
from pathlib import Path

import pytest

from shared.db.migrate import function_files, migration_files
from shared.settings import SERVICES
from tests.harness.process import ROOT

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


def git(*words: str) -> list[str]:
    """The lines that it prints; none where the sources come without their history."""
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def first_published() -> set[Path] | None:
    """The files of the first published version, if there is one."""
    tags = git("tag", "--list", "v*", "--sort=creatordate")
    if not tags:
        return None
    return {ROOT / name for name in git("ls-tree", "-r", "--name-only", "--full-tree", tags[0])}


def later_than(published: set[Path] | None, files: list[Path]) -> list[Path]:
    return [path for path in files if published is not None and path not in published]


FILES = sorted({path for service in SERVICES for _, path in migration_files(service)})


def test_a_migration_leaves_old_code_running() -> None:
    """During a rollout both versions use the new schema."""
    later = later_than(first_published(), FILES)
    found = {path.name: wrong for path in later if (wrong := breaking(path.read_text()))}
    assert found == {}


def test_the_rule_begins_with_the_first_published_version() -> None:
    """Without one nothing is compared; what it has is not compared, either."""
    old, new = Path("0001_first.sql"), Path("0002_next.sql")
    assert later_than(None, [old, new]) == []
    assert later_than({old}, [old, new]) == [new]


_DEFINED = re.compile(r"^CREATE\s+(?:OR\s+REPLACE\s+)?FUNCTION\s+(\w+)", re.I | re.M)


@pytest.mark.parametrize("service", SERVICES)
def test_a_function_file_only_creates_or_replaces(service: str) -> None:
    """It can be applied again at any time, and takes nothing from old code. It may call what it makes."""
    for file in function_files(service):
        assert breaking(file.sql) == [], file.name
        code = re.sub(r"--[^\n]*", "", _BODY.sub("''", file.sql))
        for statement in filter(None, map(str.strip, code.split(";"))):
            allowed = r"CREATE\s+OR\s+REPLACE\s+(FUNCTION|TRIGGER)\b|SELECT add_log_week\("
            assert re.match(allowed, statement, re.I), (file.name, statement)


# The values of a stored column: they may never change, because the rows that are there would not.
OF_GENERATED_COLUMNS = {
    "json_text", "json_id", "json_instant", "local_text", "local_time_of", "class_json_head",
    "class_json_tail",
}  # fmt: skip


@pytest.mark.parametrize("service", SERVICES)
def test_every_function_has_its_current_definition_in_the_functions_folder(service: str) -> None:
    """One place to read it. Only what a generated column calls is in a migration, and only there."""
    current = {name for file in function_files(service) for name in _DEFINED.findall(file.sql)}
    assert not current & OF_GENERATED_COLUMNS
    for _, path in migration_files(service):
        assert set(_DEFINED.findall(path.read_text())) <= current | OF_GENERATED_COLUMNS


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("ALTER TABLE members DROP COLUMN phone;", 1),
        ("ALTER TABLE members RENAME COLUMN phone TO telephone;", 1),
        ("ALTER TABLE members RENAME TO people;", 1),
        ("ALTER TABLE members ALTER COLUMN phone TYPE integer;", 1),
        ("ALTER TABLE members ALTER COLUMN phone SET NOT NULL;", 1),
        ("ALTER TABLE members ADD COLUMN age integer NOT NULL;", 1),
        ("DROP TABLE members;", 1),
        ("TRUNCATE members;", 1),
        ("-- old code survives: it never did this\nDROP TABLE a; DROP TABLE b;", 1),
        ("ALTER TABLE members ADD COLUMN age integer;", 0),
        ("ALTER TABLE members ADD COLUMN age integer NOT NULL DEFAULT 0;", 0),
        ("CREATE TABLE visits (id uuid NOT NULL);", 0),
        ("-- old code survives: nothing has read it since 1.2\nALTER TABLE members DROP COLUMN age;", 0),
        ("CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN DROP TABLE x; END $$;", 0),
    ],
)
def test_what_would_break_old_code_is_found_and_what_it_survives_passes(sql: str, found: int) -> None:
    """The check can fail; adding is always allowed."""
    assert len(breaking(sql)) == found
