"""A request whose body was cut short does not run."""

import pytest
from standardwebhooks import Webhook

from tests.harness.raw_http import connect, request
from tests.harness.receiver import Receiver
from tests.harness.system import System


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        ({"Content_Length": "30"}, b""),
        ({"Content_Length": "30"}, b'{"overlap_seconds": 1'),
        ({"Transfer_Encoding": "chunked"}, b"not a size\r\n"),
        ({"Transfer_Encoding": "chunked"}, b"2\r\n{}\r\nnot a size\r\n"),
    ],
    ids=["nothing came", "cut short", "a corrupt first chunk", "a corrupt second chunk"],
)
async def test_a_write_whose_body_is_cut_short_does_not_run(
    system: System, receiver: Receiver, framing: dict[str, str], body: bytes
) -> None:
    """Rotating has an optional body: one that was cut short is not taken as missing, and nothing runs."""
    key = await system.key()
    partner = system.partner(key)
    made = await partner.create("/webhook-endpoints", {"url": receiver.url})
    path = f"/webhook-endpoints/{made['id']}"
    connection = await connect(system.running.partner_url)
    head = request(
        "POST",
        f"/partner/v1{path}/rotate-secret",
        X_Service_Key=key,
        Content_Type="application/json",
        **framing,
    )
    await connection.write(head + body)
    connection.writer.write_eof()
    answer = await connection.answer()
    connection.close()
    assert answer.startswith(b"HTTP/1.1 422"), answer
    assert b"json_invalid" in answer
    assert (await partner.post(f"{path}/test")).status == 202
    [got] = await receiver.until_count(1, seconds=60)
    assert len(got.headers["webhook-signature"].split(" ")) == 1, "one secret signs: nothing was rotated"
    Webhook(made["secret"]).verify(got.body, got.headers)
