"""Names whose DNS never answers delay only the tenant that uses them."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from services.webhooks.dispatcher.resolver import MAX_LOOKUPS_PER_TENANT, BoundedResolver, lookup_tenant
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.urls import UrlPolicy
from tests.harness.hanging_names import HangingNames, hanging_names
from tests.harness.receiver import Receiver


@pytest.fixture
def names() -> Iterator[HangingNames]:
    with hanging_names() as hanging:
        yield hanging


async def test_names_that_hang_do_not_delay_another_studios_delivery(
    names: HangingNames, receiver: Receiver
) -> None:
    """Forty endpoints of one studio hang in their lookups; another one's arrives at once."""
    url = receiver.url.replace("127.0.0.1", "localhost")
    policy = UrlPolicy(allow_http=True, allow_hosts=frozenset({"localhost"}))
    async with Sender(policy) as sender:
        flood = [
            asyncio.create_task(sender.post(f"http://hang{n}.example/", {}, b"{}", tenant="flooding"))
            for n in range(40)
        ]
        while not names.hanging:
            await asyncio.sleep(0.01)
        began = time.perf_counter()
        sent = await sender.post(url, {}, b"{}", tenant="another")
        assert sent.outcome.status == 200
        assert time.perf_counter() - began < 1
        for task in flood:
            task.cancel()
        names.released.set()
        await asyncio.gather(*flood, return_exceptions=True)


async def test_a_tenant_holds_few_threads_and_one_for_each_name(names: HangingNames) -> None:
    """However many lookups it starts, and however often it tries a name again."""
    resolver = BoundedResolver(timeout=0.2)
    lookup_tenant.set("flooding")
    for _ in range(3):
        tries = [resolver.resolve(f"hang{n % 10}.example") for n in range(30)]
        outcomes = await asyncio.gather(*tries, return_exceptions=True)
        assert all("timed out" in str(outcome) for outcome in outcomes)
    assert len(names.hanging) == MAX_LOOKUPS_PER_TENANT
    assert len(set(names.hanging)) == MAX_LOOKUPS_PER_TENANT
    lookup_tenant.set("another")
    assert (await resolver.resolve("localhost", 80))[0]["port"] == 80
    names.released.set()

    async def settled() -> None:
        while resolver._tenants:
            await asyncio.sleep(0.01)

    await asyncio.wait_for(settled(), 5)
    lookup_tenant.set("flooding")
    assert await resolver.resolve("localhost"), "the slots are free again once the threads end"


async def test_a_lookup_that_times_out_is_a_failed_attempt(names: HangingNames) -> None:
    """Within seconds, and in the words of the delivery log."""
    async with Sender(UrlPolicy(allow_http=True), resolver=BoundedResolver(timeout=0.1)) as sender:
        sent = await sender.post("http://hang.example/", {}, b"{}")
    assert sent.outcome.error == "the host name cannot be resolved"
