"""`clients/cases.json`: calls of every operation, for a studio that has its `import` lines.

The cases run in order. A text that begins with $ is a value that an earlier case kept (`keep`: its name, and
where it is in the result), or `$an_hour_ago`. `result` is a part of what must come back; a list has as many
rows. `error` is the code of the refusal.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from clients.generate.document import camel
from tests.clients.drivers import Driver, Json, Refused
from tests.harness.process import ROOT

FILE = ROOT / "clients/cases.json"


def table() -> Json:
    found: Json = json.loads(FILE.read_text())
    return found


async def run_cases(driver: Driver) -> list[str]:
    """What is not as the table says."""
    kept: Json = {"an_hour_ago": (datetime.now(UTC) - timedelta(hours=1)).isoformat()}
    wrong: list[str] = []
    for case in table()["cases"]:
        path, fields = filled([case.get("path", []), case.get("fields", {})], kept)
        expected = filled(case.get("result"), kept)
        where = f"{case['call']} {path} {fields}"
        try:
            result = await driver.call(case["call"], *path, **fields)
        except Refused as refused:
            error, code = refused.error, case.get("error")
            named = code and (error.get("code"), error["class"]) == (code, error_class(code))
            wrong += [] if named else [f"{where}: {error}"]
            continue
        if "error" in case:
            wrong.append(f"{where}: not refused but {result}")
            continue
        wrong += [f"{where}: {problem}" for problem in differences(expected, result)]
        for name, place in case.get("keep", {}).items():
            kept[name] = at(result, place)
    return wrong


def error_class(code: str) -> str:
    name = camel(code)
    return name if name.endswith("Error") else f"{name}Error"


def filled(value: Any, kept: Json) -> Any:
    if isinstance(value, dict):
        return {name: filled(one, kept) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one, kept) for one in value]
    return kept[value[1:]] if isinstance(value, str) and value.startswith("$") else value


def at(value: Any, place: str) -> Any:
    for part in place.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def differences(expected: Any, found: Any, place: str = "") -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        for name, one in expected.items():
            if name not in found:
                yield f"{place}.{name} is missing"
            else:
                yield from differences(one, found[name], f"{place}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, one in enumerate(expected):
            yield from differences(one, found[number], f"{place}.{number}")
    elif expected != found:
        yield f"{place} is {found!r}, not {expected!r}"
