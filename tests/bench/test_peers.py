"""The peer of the booking rows writes our tables: a column of ours that it does not know would break it."""

import ast

import asyncpg

from tests.harness.process import ROOT


def columns_of_peer() -> dict[str, set[str]]:
    """By table. Read as text: SQLAlchemy is installed for the benchmark alone."""
    found: dict[str, set[str]] = {}
    for model in ast.parse((ROOT / "bench/peers/models.py").read_text()).body:
        if not isinstance(model, ast.ClassDef):
            continue
        for line in model.body:
            match line:
                case ast.Assign([ast.Name("__tablename__")], ast.Constant(str(table))):
                    columns = found[table] = set()
                case ast.AnnAssign(ast.Name(name)) if "Mapped" in ast.unparse(line.annotation):
                    columns.add(name)
    return found


KNOWN = """
SELECT table_name::text, column_name::text,
       is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AS needed
FROM information_schema.columns WHERE table_schema = 'bookings' AND table_name = ANY ($1)
"""
WRITTEN = {"bookings", "outbox", "idempotency_keys"}


async def test_the_peer_fills_every_column_that_a_row_needs(database_url: str) -> None:
    peer = columns_of_peer()
    assert peer.keys() > WRITTEN
    conn = await asyncpg.connect(database_url)
    try:
        rows = await conn.fetch(KNOWN, list(peer))
    finally:
        await conn.close()
    known = {
        table: {row["column_name"]: row["needed"] for row in rows if row["table_name"] == table}
        for table in peer
    }
    for table, columns in peer.items():
        assert columns <= known[table].keys(), table
    for table in WRITTEN:
        assert {name for name, needed in known[table].items() if needed} <= peer[table], table
