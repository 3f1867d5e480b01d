"""The smallest check that a server kept its data."""

import time
from collections.abc import Callable
from typing import Any

from tests.harness.databases import connected


async def write(url: str, word: str) -> None:
    await one_value(url, "CREATE TABLE IF NOT EXISTS words (word text)")
    await one_value(url, "INSERT INTO words VALUES ($1)", word)


async def read(url: str) -> list[str]:
    return list(await one_value(url, "SELECT array_agg(word) FROM words"))


async def one_value(url: str, sql: str, *values: str) -> Any:
    async with connected(url) as connection:
        return await connection.fetchval(sql, *values)


def wait_until(fact: Callable[[], bool], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < deadline, "it did not become true"
        time.sleep(0.02)
