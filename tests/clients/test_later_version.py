"""Today's clients and an API of a made-up later version: more fields, values, codes and kinds of events."""

from typing import Any

import pytest

from clients.generate.document import read_document
from tests.clients.cases import differences
from tests.clients.conftest import Drive
from tests.clients.drivers import Json, Refused
from tests.clients.later_version import CODE, FIELD, KIND, answers, document, later_version

KEY = "spk_test_a_b"
ID = "632623f4-2cad-5876-afc5-79e7fc253218"


def known_part(value: Any) -> Any:
    """Without the fields that nobody knows today, and without what tells a client only which class it is."""
    if isinstance(value, list):
        return [known_part(one) for one in value]
    if isinstance(value, dict):
        left_out = (FIELD, *(["object"] if value.get("object") == "event" else []))
        return {name: known_part(one) for name, one in value.items() if name not in left_out}
    return value


async def test_what_is_newer_breaks_no_call(drive: Drive) -> None:
    """Every operation gives what is known, with unknown values as texts; an unknown code is a plain error."""
    described = {
        one["operationId"]: one for methods in document()["paths"].values() for one in methods.values()
    }
    expected, wrong = answers(), []
    async with later_version() as url, drive(url, KEY) as driver:
        for operation in read_document().operations:
            ids = [ID] * len(operation.path_fields)
            content: Json = described[operation.id].get("requestBody", {}).get("content", {})
            fields: Json = dict(content["application/json"]["example"]) if content else {}
            fields |= {field.name: ID for field in operation.query if field.required}
            result = await driver.call(operation.id, *ids, **fields)
            _, body = expected[operation.method, operation.path]
            wrong += [f"{operation.id}: {one}" for one in differences(known_part(body), result)]
        with pytest.raises(Refused) as refused:
            await driver.call("get_lead", "refuse")
    assert wrong == []
    assert (refused.value.error["class"], refused.value.error["code"]) == ("ApiError", CODE)


async def test_an_event_of_a_later_kind_or_shape_arrives_whole(drive: Drive) -> None:
    """The others keep their kinds, and following passes over nothing."""
    kinds = list(document()["webhooks"])
    async with later_version() as url, drive(url, KEY) as driver:
        followed = await driver.call("follow", after_sequence=0, count=len(kinds) + 2)
    assert [one["type"] for one in followed] == [*kinds, KIND, kinds[0]]
    assert [one.get("unknown", False) for one in followed] == [False] * len(kinds) + [True, True]
    assert followed[-2]["data"] == {"subject": {"id": "x"}}
    assert followed[-1]["data"] == {FIELD: 1}
