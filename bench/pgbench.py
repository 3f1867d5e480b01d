"""The upper bound for anything that queries Postgres: pgbench with prepared statements, no Python."""

import asyncio
import re
import subprocess
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bench.cores import SERVED, starting_on
from bench.measure import Sample
from bench.problem import BenchProblem
from bench.studios import MEMBERS, Studio
from services.bookings.store import classes
from services.bookings.wire.classes import ClassesQuery
from shared.http.caller import Caller

CLIENTS = 32
BOOK = """
\\set i :i + 1
\\set n :first + :i * {clients} + :client_id
\\set c :first_class + :n % :classes
\\set m 1 + :n % {members}
SELECT bookings.bench_book('{studio}',
    ('{head:08x}-0000-4000-8000-' || lpad(to_hex(:c::bigint), 12, '0'))::uuid,
    ('{head:08x}-0000-4000-9000-' || lpad(to_hex(:m::bigint), 12, '0'))::uuid,
    'bench-' || (:first_class)::text || '-' || (:n)::text);
"""
# The columns of a page, without any precomputed column. It does not change when the service does.
PAGE = """
SELECT {columns} FROM classes t WHERE t.studio_id = '{studio}' ORDER BY t.start_time, t.id LIMIT {limit};
"""


class Pgbench:
    def __init__(self, binary: str, url: str, script: str, folder: Path, *, clients: int = CLIENTS) -> None:
        self._binary = binary
        self._url = f"{url}?options=-csearch_path%3Dbookings"
        self._clients = clients
        self._file = folder / f"pgbench-{abs(hash(script))}.sql"
        self._file.write_text(script)

    def run(
        self, seconds: float, variables: Mapping[str, int] | None = None, cores: Collection[int] = SERVED
    ) -> Sample:
        words = [
            self._binary,
            "-n",
            "-M",
            "prepared",
            "-c",
            str(self._clients),
            "-T",
            str(round(seconds) + 1),  # includes connecting
        ]
        for name, value in (variables or {}).items():
            words += ["-D", f"{name}={value}"]
        with starting_on(cores):
            done = subprocess.run(
                [*words, "-f", str(self._file), self._url], capture_output=True, text=True, timeout=120
            )
        rate = re.search(r"tps = ([\d.]+)", done.stdout)
        latency = re.search(r"latency average = ([\d.]+) ms", done.stdout)
        if done.returncode != 0 or rate is None or latency is None:
            raise BenchProblem(f"pgbench failed: {done.stderr[-500:]}")
        return Sample(rate=float(rate[1]), p50_ms=float(latency[1]))


def book_script(studio: Studio) -> str:
    return BOOK.format(clients=CLIENTS, members=MEMBERS, studio=studio.id, head=studio.number)


class _Recorder:
    """Stands in for a connection and records the statement."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, tuple[Any, ...]]] = []

    async def fetchrow(self, sql: str, *args: Any) -> tuple[bytes, int]:
        self.statements.append((sql, args))
        return b"", 0


def plain_page_script(studio: Studio, limit: int = 50) -> str:
    """The baseline: every column of a page, read straight from the table."""
    return PAGE.format(columns=classes.WIRE_COLUMNS, studio=studio.id, limit=limit + 1)


def own_page_script(studio: Studio, limit: int = 50) -> str:
    """The exact statement that our service currently runs for a page of classes."""
    recorder = _Recorder()
    page = classes.list_json(recorder, Caller(studio_id=studio.id), ClassesQuery(limit=limit))  # type: ignore[arg-type]
    asyncio.run(page)
    sql, args = recorder.statements[-1]
    for number, value in reversed(list(enumerate(args, 1))):
        sql = sql.replace(f"${number}", f"'{value}'" if isinstance(value, str) else str(value))
    return " ".join(sql.split()) + ";\n"
