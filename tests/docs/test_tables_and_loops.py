"""docs/tables-and-loops.md has every table and every loop, and no other."""

import ast
import re
from pathlib import Path

from shared.settings import SERVICES
from tests.harness.databases import connected
from tests.harness.system import ROOT

PAGE = (ROOT / "docs" / "tables-and-loops.md").read_text(encoding="utf-8")
TABLES, LOOPS = PAGE.split("\n## Loops\n")
# Partitions are parts of their table.
IN_DATABASE = """
SELECT n.nspname AS schema, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""


def first_cells(text: str) -> list[str]:
    """The names in the first column of every table of the page."""
    rows = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.partition(" (")[0])]


def tables_on_the_page() -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for section in TABLES.split("\n### ")[1:]:
        title, _, text = section.partition("\n")
        schemas = SERVICES if title == "In every schema" else re.findall(r"`(\w+)`", title)
        found |= {(schema, name) for schema in schemas for name in first_cells(text)}
    return found


async def test_every_table_is_on_the_page(database_url: str) -> None:
    """Read from a migrated database, so that none is forgotten, and none stays that is gone."""
    async with connected(database_url) as conn:
        rows = await conn.fetch(IN_DATABASE, list(SERVICES))
    assert tables_on_the_page() == {(row["schema"], row["name"]) for row in rows}


def loop_names(path: Path) -> set[str]:
    """The first argument of each `Loop(...)`, with SERVICE for the service's name."""
    calls = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    ]
    names = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Loop"]
    return {re.sub(r"\{service\}", "SERVICE", ast.unparse(name)).strip("f'\"") for name in names}


def test_every_loop_is_on_the_page() -> None:
    """Read from the code that makes them."""
    files = [*(ROOT / "services").rglob("*.py"), *(ROOT / "shared").rglob("*.py")]
    assert set(first_cells(LOOPS)) == {name for path in files for name in loop_names(path)}
