"""Protection against request forgery (SSRF), at connect time, on the socket."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from services.webhooks.dispatcher.resolver import ForbiddenAddress, guarded_socket
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.urls import UrlPolicy, is_forbidden, literal_address, url_problem
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import StudioClient

FORBIDDEN = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.255.255.254",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
    "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1",
    "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a9fe:a9fe", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::",
    "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
]  # fmt: skip
ALLOWED = ["1.1.1.1", "8.8.8.8", "100.63.255.255", "172.32.0.1", "2606:4700:4700::1111", "2a00:1450:4001::1"]


def family_of(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


@pytest.mark.parametrize("address", [*FORBIDDEN, "not an address", *ALLOWED])
def test_all_but_public_addresses_are_off_limits(address: str) -> None:
    """Loopback, private, link-local, CGNAT, metadata, mapped, NAT64, 6to4, multicast and reserved ones."""
    assert is_forbidden(address) is (address not in ALLOWED)


@pytest.mark.parametrize("address", [a for a in FORBIDDEN if literal_address(a) and "%" not in a])
async def test_the_socket_refuses_a_literal_at_connect_time(address: str) -> None:
    """aiohttp does not resolve a literal, so the socket factory has to refuse it."""
    with pytest.raises(ForbiddenAddress):
        guarded_socket((family_of(address), socket.SOCK_STREAM, 6, "", (address, 443)))
    host = f"[{address}]" if ":" in address else address
    async with Sender(UrlPolicy(allow_http=True)) as sender:
        sent = await sender.post(f"http://{host}:80/", {}, b"{}")
    assert sent.outcome.error == "not sent: the host resolves to a private, local or reserved address"


class Responses(AbstractResolver):
    """A resolver that gives these in turn and repeats the last one. It waits while `opened` is not set."""

    def __init__(self, *responses: list[str]) -> None:
        self.responses = list(responses)
        self.looked_up: list[str] = []
        self.opened = asyncio.Event()
        self.opened.set()

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        self.looked_up.append(host)
        await self.opened.wait()
        found = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family_of(address), proto=6, flags=0)
            for address in found
        ]

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    "response", [["127.0.0.1"], ["169.254.169.254"], ["::1"], ["1.1.1.1", "10.0.0.1"], ["64:ff9b::7f00:1"]]
)
async def test_a_name_that_resolves_to_one_is_refused(response: list[str], receiver: Receiver) -> None:
    """One forbidden address among good ones is enough."""
    async with Sender(UrlPolicy(allow_http=True), resolver=Responses(response)) as sender:
        sent = await sender.post(receiver.url.replace("127.0.0.1", "rebound.example"), {}, b"{}")
    assert sent.outcome.error == "not sent: the host resolves to a private, local or reserved address"
    assert receiver.count == 0


async def test_a_name_that_changes_its_answer_is_asked_once_and_connected_to_what_was_checked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the second answer, loopback, is never used for the connection that the first one allowed."""
    url = receiver.url.replace("127.0.0.1", "rebound.example")
    names = Responses(["203.0.114.1"], ["127.0.0.1"])
    tried: list[Any] = []

    async def refuse(self: Any, sock: socket.socket, address: Any) -> None:
        tried.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    monkeypatch.setattr("asyncio.selector_events.BaseSelectorEventLoop.sock_connect", refuse)
    async with Sender(UrlPolicy(allow_http=True), resolver=names) as sender:
        await sender.post(url, {}, b"{}")
        assert tried == ["203.0.114.1"], "connected to the address that was checked, and to no other"
        assert names.looked_up == ["rebound.example"]
    monkeypatch.undo()
    async with Sender(UrlPolicy(allow_http=True), resolver=names) as sender:
        sent = await sender.post(url, {}, b"{}")
    assert "private" in str(sent.outcome.error), "asked again, the new answer is checked again"
    assert receiver.count == 0


async def test_allowing_one_host_opens_no_other_spelling_of_it(receiver: Receiver) -> None:
    """The operator's list is exact: 127.0.0.1 allows neither localhost nor 127.1."""
    policy = UrlPolicy(allow_http=True, allow_hosts=frozenset({"127.0.0.1"}))
    async with Sender(policy) as sender:
        assert (await sender.post(receiver.url, {}, b"{}")).outcome.succeeded
        for host in ("localhost", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
            sent = await sender.post(receiver.url.replace("127.0.0.1", host), {}, b"{}")
            assert sent.outcome.status is None, host
    assert receiver.count == 1


REFUSED_URLS = [
    "http://partner.example/hook",
    "ftp://partner.example/",
    "https://user:secret@partner.example/",
    "https://user@partner.example/",
    "https://@partner.example/",
    "https://:@partner.example/",
    "https://p%61rtner.example/",
    "https://[fe80::1%25eth0]/",
    "https://partner..example/",
    "https://.example/",
    "https://./",
    "https://part,ner.example/",
    f"https://{'a' * 64}.example/",
    f"https://{'.'.join(['a' * 60] * 5)}/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:169.254.169.254]/",
    "https://169.254.169.254/latest",
    "https:///nothing",
    "https://partner.example/#part",
    "https://partner.example\\@127.0.0.1/",
    "https://partner example/",
    "partner.example",
    "",
]


ACCEPTED_URLS = ["https://partner.example/hook?x=1", "https://partner.example:8443/", "https://1.1.1.1/"]


@pytest.mark.parametrize("url", [*REFUSED_URLS, *ACCEPTED_URLS])
def test_urls_that_can_never_work_are_refused_when_written(url: str) -> None:
    """Any port and any path are accepted; http and a named host where an operator allows them."""
    assert (url_problem(url, UrlPolicy()) is None) is (url in ACCEPTED_URLS)
    open_to = UrlPolicy(allow_http=True, allow_hosts=frozenset({"localhost", "127.0.0.1"}))
    assert url_problem("http://127.0.0.1:9000/hook", open_to) is None
    assert url_problem("http://10.0.0.1/hook", open_to) is not None


async def test_a_refused_url_is_a_422_that_names_the_field(client: StudioClient, receiver: Receiver) -> None:
    """At create and at PATCH."""
    path = f"/webhook-endpoints/{(await client.endpoint(receiver.url))['id']}"
    for method, target in (("POST", "/webhook-endpoints"), ("PATCH", path)):
        reply = await client.call(method, target, {"url": "https://[::1]/"})
        assert (reply.status, reply.json()["detail"][0]["loc"]) == (422, ["body", "url"])
