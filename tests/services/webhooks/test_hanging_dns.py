"""Names whose DNS never answers delay only the tenant that uses them."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from services.webhooks.dispatcher.resolver import MAX_LOOKUPS_PER_TENANT, FairResolver, lookup_tenant
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.urls import UrlPolicy
from shared.wire import new_id
from tests.harness.eventually import until
from tests.harness.hanging_names import NameServer, hanging_names
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import open_studio_client

STUDIOS = 24
ENDPOINTS_EACH = 3


@pytest.fixture
def names() -> Iterator[NameServer]:
    with hanging_names() as server:
        yield server


async def test_the_hanging_names_of_many_studios_delay_no_other_studio(
    names: NameServer, database_url: str, receiver: Receiver
) -> None:
    """72 lookups hang at the same time, without a thread each. A name that is new is found."""
    allowed = frozenset({"127.0.0.1", "receiver.example"})
    async with open_studio_client(database_url, webhook_allow_hosts=allowed) as client:
        others = [client.caller(studio_id=new_id(), client_id=new_id()) for _ in range(STUDIOS)]
        for number in range(ENDPOINTS_EACH):
            urls = [f"http://hang{number}.studio{studio}.example/" for studio in range(STUDIOS)]
            made = (client.endpoint(url, caller=other) for url, other in zip(urls, others, strict=True))
            await asyncio.gather(*made)
        await client.endpoint(receiver.url.replace("127.0.0.1", "receiver.example"))
        await client.publish(*(client.event(studio_id=other.studio_id) for other in others))
        await until(lambda: len(names.hanging) == STUDIOS * ENDPOINTS_EACH)
        began = time.perf_counter()
        await client.publish_some(1)
        await receiver.until_count(1)
        assert time.perf_counter() - began < 1
        assert not [thread for thread in threading.enumerate() if "hang" in thread.name]


async def test_a_tenant_has_few_lookups_at_a_time_and_the_others_wait_for_them(names: NameServer) -> None:
    """It cannot flood the name servers. A good name among them is late, but found."""
    resolver = FairResolver(timeout=0.3)
    lookup_tenant.set("flooding")
    lookups = [f"hang{n}.example" for n in range(MAX_LOOKUPS_PER_TENANT + 5)]
    tries = [asyncio.create_task(resolver.resolve(name)) for name in [*lookups, "good.example"]]
    await until(lambda: len(names.hanging) == MAX_LOOKUPS_PER_TENANT)
    lookup_tenant.set("another")
    [found] = await resolver.resolve("another.example", 80)
    assert (found["host"], found["port"]) == ("127.0.0.1", 80)
    assert len(names.hanging) == MAX_LOOKUPS_PER_TENANT
    *hung, good = await asyncio.gather(*tries, return_exceptions=True)
    assert all("timed out" in str(outcome) for outcome in hung)
    assert isinstance(good, list)
    await resolver.close()


async def test_the_hosts_file_is_read_and_nothing_is_asked_for_its_names(names: NameServer) -> None:
    """`localhost` is in every hosts file."""
    resolver = FairResolver()
    assert "127.0.0.1" in {found["host"] for found in await resolver.resolve("localhost", 80)}
    assert not names.queries
    await resolver.close()


async def test_a_lookup_that_times_out_is_a_failed_attempt(names: NameServer) -> None:
    """Within seconds, and in the words of the delivery log."""
    async with Sender(UrlPolicy(allow_http=True), resolver=FairResolver(timeout=0.1)) as sender:
        sent = await sender.post("http://hang.example/", {}, b"{}")
    assert sent.outcome.error == "the host name cannot be resolved"
