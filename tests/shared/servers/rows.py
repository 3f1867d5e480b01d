"""The smallest check that a server kept its data."""

import time
from collections.abc import Callable
from typing import Any

import asyncpg


async def write(url: str, word: str) -> None:
    connection: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE TABLE IF NOT EXISTS words (word text)")
        await connection.execute("INSERT INTO words VALUES ($1)", word)
    finally:
        await connection.close()


async def read(url: str) -> list[str]:
    connection: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        return [row["word"] for row in await connection.fetch("SELECT word FROM words")]
    finally:
        await connection.close()


async def one_value(url: str, sql: str) -> object:
    connection: asyncpg.Connection[Any] = await asyncpg.connect(url)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def wait_until(fact: Callable[[], bool], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "it did not become true"
        time.sleep(0.02)
